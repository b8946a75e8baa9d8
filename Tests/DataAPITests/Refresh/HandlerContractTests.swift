import AuthInterface
import AuthTesting
import DataAPI
import Foundation
import NetworkCore
import Testing

@Suite struct HandlerContractTests {
    private func handler(_ url: URL, _ tolerance: ReplayTolerance) -> RESTTokenRefreshHandler {
        let network = NetworkClient(baseURL: url, transport: URLSessionTransport(), interceptors: [])
        return RESTTokenRefreshHandler(network: network, replayTolerance: tolerance, accessToken: .bearer)
    }

    @Test(arguments: [ReplayTolerance.none, .within(.seconds(10)), .sameKey])
    func `the REST handler keeps the contract over HTTP`(_ tolerance: ReplayTolerance) async throws {
        try await TokenRefreshHandlerContract.check { url in handler(url, tolerance) }
    }

    @Test func `a handler that declares a tolerance its server does not have breaks G12`() async throws {
        let violation = await #expect(throws: ContractViolation.self) {
            try await TokenRefreshHandlerContract.check {
                try LoopbackRefreshBackend(tolerating: ReplayTolerance.none) { url in handler(url, .sameKey) }
            }
        }
        #expect(try #require(violation).brokenRules.map(\.name).allSatisfy { $0.hasPrefix("G12: ") })
    }
}
