import AuthInterface
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import OAuth2Flows
import Testing

@Suite(.timeLimit(.minutes(10))) struct OAuth2HandlerTests {
    private let response = StubResponse.text(
        #"{"access_token":"fixture-access","token_type":"bearer","expires_in":3600,"refresh_token":"fixture-next"}"#)

    private func tokens(after response: StubResponse) async throws -> TokenRefreshResult {
        try await OAuth2TokenRefreshHandler(StubTransport(.any ~> response)).refresh(.fixture)
    }

    private func sent(
        by client: OAuth2Client, _ request: TokenRefreshRequest = .fixture
    ) async throws -> SentRequest {
        let transport = StubTransport(.any ~> response)
        _ = try await OAuth2TokenRefreshHandler(transport, as: client).refresh(request)
        return try #require(transport.requests.first)
    }

    @Test func `G31: the scope of a response is that of its access token, and is unchanged where it is omitted`()
        async throws
    {
        let parts = [(#","scope":"read write""#, "read write"), (#","scope":7"#, nil), ("", nil)]
        for (member, scope) in parts {
            #expect(try await tokens(after: .text(#"{"access_token":"fixture-access"\#(member)}"#)).scope == scope)
        }
    }

    @Test func `a refresh sends the form of RFC 6749`() async throws {
        let request = try await sent(by: .fixture, TokenRefreshRequest(refreshToken: "a+b/c d"))
        #expect(request.method == .post)
        #expect(request.url == .tokenEndpoint)
        #expect(request.headers["Content-Type"] == "application/x-www-form-urlencoded")
        #expect(request.text == "grant_type=refresh_token&refresh_token=a%2Bb%2Fc%20d&client_id=fixture-client")
        #expect(request.headers["Authorization"] == nil)
    }

    @Test func `the response is read with its lifetime and date`() async throws {
        let tokens = try await tokens(after: response)
        #expect(
            tokens
                == TokenRefreshResult(
                    accessToken: "fixture-access", refreshToken: "fixture-next", expiresIn: .seconds(3_600),
                    serverDate: StubResponse.date))
    }

    static let lifetimes: [(String, Duration?)] = [
        (#""3600""#, .seconds(3_600)), ("1.5", .seconds(1.5)), ("0", nil), ("-5", nil), ("null", nil), ("[]", nil),
    ]

    @Test(arguments: lifetimes)
    func `a lifetime is read in every common form, and an invalid one is ignored`(_ text: String, _ expected: Duration?)
        async throws
    {
        let response = StubResponse.text(#"{"access_token":"fixture-access","expires_in":\#(text)}"#)
        let tokens = try await tokens(after: response)
        #expect(tokens.expiresIn == expected)
        #expect(tokens.refreshToken == nil)
    }

    @Test func `a new refresh token is kept beside an access token that cannot be used`() async throws {
        let bodies = [
            #"{"access_token":"","refresh_token":"fixture-next"}"#, #"{"refresh_token":"fixture-next"}"#,
            #"{"access_token":"fixture-access","token_type":"DPoP","refresh_token":"fixture-next"}"#,
        ]
        for body in bodies {
            let tokens = try await tokens(after: .text(body))
            #expect(tokens.accessToken.isEmpty && tokens.refreshToken == "fixture-next")
        }
    }

    @Test func `an absolute expiry is read`() async throws {
        let response = StubResponse.text(#"{"access_token":"fixture-access","expires_at":1893553445}"#)
        let tokens = try await tokens(after: response)
        #expect(tokens.expiresAt == Date(timeIntervalSince1970: 1_893_553_445))
    }

    @Test func `HTTP Basic carries the encoded identifier and secret`() async throws {
        let request = try await sent(by: .basic(id: "app:1", secret: "a b&ü"))
        let encoded = Data("app%3A1:a+b%26%C3%BC".utf8).base64EncodedString()
        #expect(request.headers["Authorization"] == "Basic \(encoded)")
        #expect(!request.text.contains("client_"))
    }

    @Test func `a client in the body sends identifier and secret with the token`() async throws {
        let request = try await sent(by: .body(id: "fixture-client", secret: "fixture&secret"))
        #expect(request.headers["Authorization"] == nil)
        #expect(request.text.hasSuffix("&client_id=fixture-client&client_secret=fixture%26secret"))
    }

    @Test(arguments: [("fixture-refresh", "refresh_token"), (nil, "access_token")] as [(String?, String)])
    func `a revocation sends the refresh token, and without one the access token`(_ token: String?, _ kind: String)
        async throws
    {
        let transport = StubTransport(.post("oauth2/revoke") ~> .status(200))
        let handler = OAuth2TokenRefreshHandler(transport, as: .basic(id: "fixture-client", secret: "fixture-secret"))
        try await handler.revoke(TokenBundle(accessToken: "fixture-access", refreshToken: token))
        let request = try #require(transport.requests.first)
        #expect(request.url == .revocationEndpoint)
        #expect(request.text == "token=\(token ?? "fixture-access")&token_type_hint=\(kind)")
        #expect(request.headers["Authorization"]?.hasPrefix("Basic ") == true)
    }

    @Test func `without a revocation endpoint nothing is sent`() async throws {
        let transport = StubTransport()
        let handler = OAuth2TokenRefreshHandler(
            tokenEndpoint: .tokenEndpoint, client: .fixture, network: NetworkClient(transport))
        try await handler.revoke(TokenBundle(accessToken: "fixture-access", refreshToken: "fixture-refresh"))
        #expect(transport.requests.isEmpty)
    }

    @Test func `no description of a client shows its secret`() {
        let secret = "fixture-secret"
        for client in [OAuth2Client.basic(id: "id", secret: secret), .body(id: "id", secret: secret)] {
            var text = "\(client) \(String(reflecting: client))"
            dump(client, to: &text)
            #expect(!text.contains(secret))
        }
    }
}
