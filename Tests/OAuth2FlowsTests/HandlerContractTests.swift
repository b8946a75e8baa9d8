import AuthInterface
import AuthTesting
import NetworkCore
import OAuth2Flows
import Testing

@Suite struct HandlerContractTests {
    @Test(arguments: [ReplayTolerance.none, .within(.seconds(10)), .sameKey])
    func `the OAuth 2.0 handler keeps the contract over HTTP`(_ tolerance: ReplayTolerance) async throws {
        try await TokenRefreshHandlerContract.check(.oauth2) { url in
            OAuth2TokenRefreshHandler(
                tokenEndpoint: url, client: .basic(id: "fixture-client", secret: "fixture-secret"),
                network: NetworkClient(baseURL: url, transport: URLSessionTransport(), interceptors: []),
                replayTolerance: tolerance)
        }
    }
}
