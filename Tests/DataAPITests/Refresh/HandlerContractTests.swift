import AuthInterface
import AuthTesting
import DataAPI
import Foundation
import NetworkCore
import Testing

@Suite struct HandlerContractTests {
    @Test func theRESTHandlerHonoursTheContract() async throws {
        try await TokenRefreshHandlerContract.check { RESTBackend() }
    }

    @Test func theOAuth2HandlerHonoursTheContract() async throws {
        try await TokenRefreshHandlerContract.check { OAuth2Backend() }
    }
}

private struct RESTBackend: RefreshBackend {
    let server = TokenServer(.rest)

    var handler: RESTTokenRefreshHandler { RESTTokenRefreshHandler(network: NetworkClient(server)) }

    func signIn() -> TokenRefreshResult { server.signIn() }

    func answer(_ answer: RefreshBackendAnswer) -> Bool {
        server.answer(answer)
        return true
    }

    func session(of accessToken: String) -> String? { RotatingTokens.session(of: accessToken) }
}

private struct OAuth2Backend: RefreshBackend {
    let server = TokenServer(.oauth2)

    var handler: OAuth2TokenRefreshHandler {
        OAuth2TokenRefreshHandler(
            tokenEndpoint: .tokenEndpoint, client: .public(id: "fixture-client"), network: NetworkClient(server))
    }

    func signIn() -> TokenRefreshResult { server.signIn() }

    func answer(_ answer: RefreshBackendAnswer) -> Bool {
        server.answer(answer)
        return true
    }

    func session(of accessToken: String) -> String? { RotatingTokens.session(of: accessToken) }
}
