import AuthInterface
import AuthTesting
import DataAPI
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import NetworkURLSession
import Testing

@Suite(.timeLimit(.minutes(10))) struct HandlerContractTests {
    @Test(arguments: [ReplayTolerance.none, .within(.seconds(10)), .sameKey])
    func `the REST handler keeps the contract over HTTP`(_ tolerance: ReplayTolerance) async throws {
        try await TokenRefreshHandlerContract.check(timeLimit: .seconds(300)) { url in
            let network = NetworkClient(baseURL: url, transport: URLSessionTransport(), interceptors: [])
            return RESTTokenRefreshHandler(network: network, replayTolerance: tolerance, accessToken: .bearer)
        }
    }
}

/// What a refresh call carries beside the refresh token, and what the handler declares.
@Suite(.timeLimit(.minutes(10))) struct RefreshCallTests {
    private let request = TokenRefreshRequest(
        refreshToken: "fixture-refresh", accessToken: "fixture-access", idempotencyKey: "fixture-key")

    private let transport = StubTransport()
    private var network: NetworkClient { NetworkClient(transport) }

    private func sent(
        by handler: RESTTokenRefreshHandler, _ request: TokenRefreshRequest? = nil
    ) async throws -> SentRequest {
        transport.add(.any ~> .text(#"{"success":true,"data":{"accessToken":"fixture-access-2"}}"#))
        _ = try await handler.refresh(request ?? self.request)
        return try #require(transport.requests.last)
    }

    @Test(arguments: ["Idempotency-Key", "X-Request-Key", nil])
    func `G12, G8: a refresh has the key of its request in the field that is set, and the engine's idle timeout`(
        _ field: String?
    ) async throws {
        for _ in 0..<2 {
            let sent = try await sent(by: RESTTokenRefreshHandler(network: network, idempotencyKeyField: field))
            for name in ["Idempotency-Key", "X-Request-Key"] {
                #expect(sent.headers[name] == (name == field ? "fixture-key" : nil))
            }
            #expect(sent.idleTimeout == .seconds(120))
        }
    }

    @Test(arguments: ["", "a\nb", "k\u{e9}"])
    func `a key or an access token that no field can carry is left out`(_ key: String) async throws {
        let request = TokenRefreshRequest(refreshToken: "fixture-refresh", accessToken: "a\r\nb", idempotencyKey: key)
        let sent = try await sent(by: RESTTokenRefreshHandler(network: network, accessToken: .bearer), request)
        #expect(sent.headers["Idempotency-Key"] == nil && sent.headers["Authorization"] == nil)
    }

    @Test func `the declared replay tolerance and revocation scope are the careful ones by default`() {
        let careful = RESTTokenRefreshHandler(network: network)
        #expect(careful.replayTolerance == .none && !careful.affectsRevokedSessionOnly)
        let declared = RESTTokenRefreshHandler(
            network: network, replayTolerance: .sameKey, logoutAffectsSessionOnly: true)
        #expect(declared.replayTolerance == .sameKey && declared.affectsRevokedSessionOnly)
    }
}
