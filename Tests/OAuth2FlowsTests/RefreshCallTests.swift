import AuthInterface
import AuthTesting
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import NetworkURLSession
import OAuth2Flows
import Testing

/// What a refresh call carries beside the refresh token, and what the handler declares.
@Suite(.timeLimit(.minutes(10))) struct RefreshCallTests {
    private let request = TokenRefreshRequest(
        refreshToken: "fixture-refresh", accessToken: "fixture-access", idempotencyKey: "fixture-key")
    private let response = StubResponse.text(#"{"access_token":"fixture-access-2"}"#)

    private func handler(
        _ transport: StubTransport,
        field: String? = "Idempotency-Key",
        tolerance: ReplayTolerance = .none
    ) -> OAuth2TokenRefreshHandler {
        OAuth2TokenRefreshHandler(
            tokenEndpoint: .tokenEndpoint, client: .fixture, network: NetworkClient(transport),
            replayTolerance: tolerance, idempotencyKeyField: field)
    }

    @Test(arguments: ["Idempotency-Key", "X-Request-Key", nil])
    func `G12: the key of the request is sent in the field that is set, and the same again with the same request`(
        _ field: String?
    ) async throws {
        let transport = StubTransport(.any ~> response, .any ~> response)
        for _ in 0..<2 { _ = try await handler(transport, field: field).refresh(request) }
        for sent in transport.requests {
            for name in ["Idempotency-Key", "X-Request-Key"] {
                #expect(sent.headers[name] == (name == field ? "fixture-key" : nil))
            }
        }
    }

    @Test func `G8: a refresh has the idle timeout of the engine's call limit`() async throws {
        let transport = StubTransport(.any ~> response)
        _ = try await handler(transport).refresh(request)
        #expect(transport.requests.map(\.idleTimeout) == [.seconds(120)])
    }

    @Test func `the declared replay tolerance and revocation scope are the careful ones by default`() {
        let careful = OAuth2TokenRefreshHandler(StubTransport())
        #expect(careful.replayTolerance == .none && !careful.affectsRevokedSessionOnly)
        let declared = handler(StubTransport(), tolerance: .within(.seconds(10)))
        #expect(declared.replayTolerance == .within(.seconds(10)) && !declared.affectsRevokedSessionOnly)
    }

    @Test func `G17: no error holds a secret that the server quoted`() async throws {
        let client = OAuth2Client.basic(id: "fixture-client", secret: "fixture secret/1")
        let credential = Data("fixture-client:fixture+secret%2F1".utf8).base64EncodedString()
        let request = TokenRefreshRequest(
            refreshToken: "fixture-refresh/2", accessToken: "fixture-access", idempotencyKey: "fixture-key")
        let secrets = [
            "fixture-refresh/2", "fixture-refresh%2F2", "fixture-refresh%2f2", "fixture-access", "fixture-key",
            "fixture secret/1", "fixture+secret%2F1", credential,
        ]
        let quote = secrets.joined(separator: " ")
        let body =
            #"{"error":"\#(quote)","error_description":"\#(quote)","requestId":"\#(quote)","errors":["\#(quote)"]}"#
        let response = StubResponse.status(400, headers: ["X-Request-ID": quote], body: Data(body.utf8))
        let handler = OAuth2TokenRefreshHandler(StubTransport(.any ~> response, .any ~> response), as: client)
        let bundle = TokenBundle(accessToken: "fixture-access", refreshToken: "fixture-refresh/2")
        let errors: [any Error] = [
            try #require(await handler.refreshError(request)),
            try await #require(throws: NetworkError.self) { try await handler.revoke(bundle) },
        ]
        for error in errors {
            var text = "\(error) \(String(reflecting: error)) \(error.localizedDescription)"
            dump(error, to: &text)
            let verdict = error as? TokenRefreshError
            text += [verdict?.serverCode, verdict?.requestID, verdict?.reason].compactMap(\.self).joined()
            #expect(!text.contains("fixture-key") || error is NetworkError, "a revocation carries no key")
            for secret in secrets where secret != "fixture-key" { #expect(!text.contains(secret), "\(secret)") }
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct HandlerContractTests {
    @Test(arguments: [ReplayTolerance.none, .within(.seconds(10)), .sameKey])
    func `the OAuth 2.0 handler keeps the contract over HTTP`(_ tolerance: ReplayTolerance) async throws {
        try await TokenRefreshHandlerContract.check(.oauth2, timeLimit: .seconds(300)) { url in
            OAuth2TokenRefreshHandler(
                tokenEndpoint: url, client: .basic(id: "fixture-client", secret: "fixture-secret"),
                network: NetworkClient(baseURL: url, transport: URLSessionTransport(), interceptors: []),
                replayTolerance: tolerance)
        }
    }
}
