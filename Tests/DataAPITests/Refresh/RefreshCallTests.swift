import AuthInterface
import DataAPI
import Foundation
import NetworkCore
import NetworkTesting
import Testing

/// What a refresh call carries beside the refresh token, and what the handlers declare.
@Suite struct RefreshCallTests {
    private let request = TokenRefreshRequest(
        refreshToken: "fixture-refresh", accessToken: "fixture-access", idempotencyKey: "fixture-key")

    private func network(_ transport: StubTransport) -> NetworkClient { NetworkClient(transport) }

    private let restResponse = StubResponse.text(#"{"success":true,"data":{"accessToken":"fixture-access-2"}}"#)
    private let oauth2Answer = StubResponse.text(#"{"access_token":"fixture-access-2"}"#)

    private func oauth2(
        _ transport: StubTransport,
        field: String? = "Idempotency-Key",
        tolerance: ReplayTolerance = .none
    ) -> OAuth2TokenRefreshHandler {
        OAuth2TokenRefreshHandler(
            tokenEndpoint: .tokenEndpoint, client: .public(id: "fixture-client"), network: NetworkClient(transport),
            replayTolerance: tolerance, idempotencyKeyField: field)
    }

    @Test("G12: both handlers send the key, the same for the same request")
    func key() async throws {
        let rest = StubTransport(.any ~> restResponse, .any ~> restResponse)
        let oauth = StubTransport(.any ~> oauth2Answer, .any ~> oauth2Answer)
        for _ in 0..<2 {
            _ = try await RESTTokenRefreshHandler(network: network(rest)).refresh(request)
            _ = try await oauth2(oauth).refresh(request)
        }
        for sent in rest.requests + oauth.requests { #expect(sent.headers["Idempotency-Key"] == "fixture-key") }
    }

    @Test(
        "G8: a refresh may be silent for as long as the engine lets it: a client's time-out does not lose its response")
    func patience() async throws {
        let (rest, oauth) = (StubTransport(.any ~> restResponse), StubTransport(.any ~> oauth2Answer))
        _ = try await RESTTokenRefreshHandler(network: network(rest)).refresh(request)
        _ = try await oauth2(oauth).refresh(request)
        for sent in rest.requests + oauth.requests { #expect(sent.timeout == .seconds(120)) }
    }

    @Test("the key's field can be renamed and switched off")
    func keyField() async throws {
        for field in [nil, "X-Request-Key"] {
            let (rest, oauth) = (StubTransport(.any ~> restResponse), StubTransport(.any ~> oauth2Answer))
            _ = try await RESTTokenRefreshHandler(network: network(rest), idempotencyKeyField: field).refresh(request)
            _ = try await oauth2(oauth, field: field).refresh(request)
            for sent in rest.requests + oauth.requests {
                #expect(sent.headers["Idempotency-Key"] == nil)
                #expect(sent.headers["X-Request-Key"] == field.map { _ in "fixture-key" })
            }
        }
    }

    @Test(
        "a key that is empty, or that no field can carry, does not fail the call", arguments: ["", "a\nb", "k\u{e9}"])
    func oddKey(_ key: String) async throws {
        let transport = StubTransport(.any ~> restResponse)
        _ = try await RESTTokenRefreshHandler(network: network(transport))
            .refresh(TokenRefreshRequest(refreshToken: "fixture-refresh", idempotencyKey: key))
        #expect(transport.requests.first?.headers["Idempotency-Key"] == nil)
    }

    @Test("a key does not let a retry policy send the refresh again")
    func neverTwice() async throws {
        let transport = StubTransport(.any ~> .status(503), .any ~> restResponse)
        await #expect(throws: TokenRefreshError.self) {
            try await RESTTokenRefreshHandler(network: network(transport), replayTolerance: .sameKey).refresh(request)
        }
        #expect(transport.requests.count == 1)
    }

    static let placements: [(RefreshAccessTokenPlacement, [String?])] = [
        (.omitted, [nil, nil, nil]), (.body, ["fixture-access", nil, nil]),
        (.bearer, [nil, "Bearer fixture-access", nil]), (.field("accessToken"), [nil, nil, "fixture-access"]),
    ]

    @Test("the access token goes beside the refresh token where the server wants both", arguments: placements)
    func accessToken(_ placement: RefreshAccessTokenPlacement, _ expected: [String?]) async throws {
        let transport = StubTransport(.any ~> restResponse)
        _ = try await RESTTokenRefreshHandler(network: network(transport), accessToken: placement).refresh(request)
        let sent = try #require(transport.requests.first)
        let found = [sent.json["accessToken"], sent.headers["Authorization"], sent.headers["accessToken"]]
        #expect(found == expected)
        #expect(sent.json["refreshToken"] == "fixture-refresh")
    }

    @Test("an access token that no field can carry is left out of the call")
    func oddAccessToken() async throws {
        let transport = StubTransport(.any ~> restResponse)
        _ = try await RESTTokenRefreshHandler(network: network(transport), accessToken: .bearer)
            .refresh(TokenRefreshRequest(refreshToken: "fixture-refresh", accessToken: "a\r\nb"))
        #expect(transport.requests.first?.headers["Authorization"] == nil)
    }

    @Test("what the server forgives, and what a revocation ends, is declared and careful by default")
    func declarations() {
        let open = NetworkClient(StubTransport())
        let careful = RESTTokenRefreshHandler(network: open)
        #expect(careful.replayTolerance == .none && !careful.affectsRevokedSessionOnly)
        let bold = RESTTokenRefreshHandler(network: open, replayTolerance: .sameKey, logoutAffectsSessionOnly: true)
        #expect(bold.replayTolerance == .sameKey && bold.affectsRevokedSessionOnly)
        let oauth = oauth2(StubTransport(), tolerance: .within(.seconds(10)))
        #expect(oauth.replayTolerance == .within(.seconds(10)) && !oauth.affectsRevokedSessionOnly)
    }

    @Test("G17: a server that quotes the request does not get a secret into an error")
    func quoted() async throws {
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
        let answer = StubResponse.status(400, headers: ["X-Request-ID": quote], body: Data(body.utf8))
        let network = NetworkClient(StubTransport(.any ~> answer, .any ~> answer, .any ~> answer))
        let handler = OAuth2TokenRefreshHandler(
            tokenEndpoint: .tokenEndpoint, revocationEndpoint: .revocationEndpoint, client: client, network: network)
        let bundle = TokenBundle(accessToken: "fixture-access", refreshToken: "fixture-refresh/2")
        let errors: [any Error] = [
            try await #require(throws: TokenRefreshError.self) { try await handler.refresh(request) },
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
