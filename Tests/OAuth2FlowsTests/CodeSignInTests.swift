#if canImport(CryptoKit) || Crypto
import AuthInterface
import AuthTesting
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import Testing

@testable import OAuth2Flows

@Suite(.timeLimit(.minutes(10))) struct CodeSignInTests {
    private let session = StubSession(.signedOut(.never))

    /// Shows no page; responds with a query in which `STATE` stands for the page's state.
    private struct ScriptedUserAgent: OAuth2UserAgent {
        let query: String
        let base: String

        func response(to page: OAuth2SignInPage) async throws -> (response: URL, redirectURI: URL) {
            let redirectURI = try #require(URL(string: "http://127.0.0.1:9/callback"))
            let shown = try await page.url(redirectingTo: redirectURI).absoluteString
            #expect(shown.hasPrefix("https://id.example.com/authorize?a=b&response_type=code&"))
            #expect(shown.contains("redirect_uri=http%3A%2F%2F127.0.0.1%3A9%2Fcallback&state=\(page.state)&"))
            #expect(shown.contains(/&code_challenge=[-_0-9A-Za-z]{43}&code_challenge_method=S256&/))
            #expect(shown.hasSuffix("&client_id=fixture-client"))
            let response = "\(base)?\(query.replacingOccurrences(of: "STATE", with: page.state))"
            return (try #require(URL(string: response)), redirectURI)
        }
    }

    private func signIn(
        _ query: String, at base: String = "http://127.0.0.1:9/callback", namesIssuer: Bool = false,
        _ transport: StubTransport = StubTransport()
    ) async throws {
        let server = OAuth2Server(
            issuer: "https://id.example.com", tokenEndpoint: .tokenEndpoint,
            authorizationEndpoint: URL(string: "https://id.example.com/authorize?a=b"),
            namesIssuerInResponses: namesIssuer)
        let signIn = OAuth2CodeSignIn(server: server, client: .fixture, network: NetworkClient(transport))
        try await signIn.start(session, with: ScriptedUserAgent(query: query, base: base))
    }

    @Test func `the challenge is that of RFC 7636, appendix B`() {
        let pkce = PKCE(verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(pkce.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        #expect(PKCE().verifier.count == 43 && PKCE().verifier != PKCE().verifier)
        #expect(!"\(pkce) \(String(reflecting: pkce))".contains(pkce.verifier))
    }

    @Test(arguments: [
        "code=fixture-code&state=STATE", "code=fixture-code&state=STATE&iss=https%3A%2F%2Fid.example.com",
    ])
    func `a code is exchanged with its verifier`(_ query: String) async throws {
        let transport = StubTransport(.any ~> .text(LoopbackProvider.tokens))
        try await signIn(query, transport)
        let body = try #require(transport.requests.first?.text)
        #expect(
            body.hasPrefix("grant_type=authorization_code&code=fixture-code&redirect_uri=http%3A%2F%2F127.0.0.1%3A9"))
        #expect(body.contains("&code_verifier=") && body.hasSuffix("&client_id=fixture-client"))
        #expect(session.signIns.map(\.refreshToken) == ["fixture-refresh"])
    }

    static let refused: [(query: String, code: String, namesIssuer: Bool)] = [
        ("code=fixture-code", "mismatch", false), ("code=fixture-code&state=", "mismatch", false),
        ("code=fixture-code&state=STATEx", "mismatch", false),
        ("code=fixture-code&state=STATE&state=STATE", "mismatch", false),
        ("code=fixture-code&state=STATE&iss=https%3A%2F%2Fevil.example.com", "mismatch", false),
        ("code=fixture-code&state=STATE&iss=", "mismatch", false), ("code=fixture-code&state=STATE", "mismatch", true),
        ("error=access_denied&state=STATE", "denied", false), ("error=server_error&state=STATE", "refused", false),
        ("error=access_denied&state=wrong", "mismatch", false), ("error=access_denied", "mismatch", false),
        ("state=STATE", "invalidResponse", false),
        ("code=&state=STATE", "invalidResponse", false), ("code=a&code=b&state=STATE", "invalidResponse", false),
        ("error=access_denied&code=fixture-code&state=STATE", "denied", false),
    ]

    @Test(arguments: refused.indices)
    func `a response that fails a check exchanges nothing`(_ index: Int) async throws {
        let (query, code, namesIssuer) = Self.refused[index]
        let transport = StubTransport()
        let error = await signInError { try await signIn(query, namesIssuer: namesIssuer, transport) }
        #expect(error?.code.rawValue == code, "\(query)")
        #expect(transport.requests.isEmpty)
        #expect(session.signIns.isEmpty)
    }

    @Test(arguments: ["https://127.0.0.1:9/callback", "http://127.0.0.1:8/callback", "http://127.0.0.1:9/other"])
    func `a response at another redirect URI is refused`(_ base: String) async throws {
        #expect(await signInError { try await signIn("code=a&state=STATE", at: base) }?.code == .mismatch)
    }

    @Test(arguments: [
        ("myapp://callback?code=a", "MyApp://callback", true), ("http://127.0.0.1:9/?a", "http://127.0.0.1:9", true),
        ("https://app.example/cb?code=a", "https://APP.example:443/cb", true),
        ("myapp://other?code=a", "MyApp://callback", false), ("http://a.example/a", "http://a.example/A", false),
        ("http://a.example/", "http://a.example/callback", false), ("http://a.example/", "https://a.example", false),
    ])
    func `a redirect URI is compared as a browser writes it`(
        response: String, redirectURI: String, isSame: Bool
    ) throws {
        let (response, redirectURI) = (try #require(URL(string: response)), try #require(URL(string: redirectURI)))
        #expect(OAuth2SignInPage.isSame(response, redirectURI) == isSame)
    }

    @Test func `no error quotes the code or the verifier`() async throws {
        let transport = StubTransport(.any ~> .error(400, code: "invalid_grant", message: "no such code: fixture-code"))
        let error = await signInError { try await signIn("code=fixture-code&state=STATE", transport) }
        let failure = try #require(error)
        #expect(failure.code == .refused && failure.serverCode == "invalid_grant")
        let form = try #require(URL(string: "https://id.example.com/?\(transport.requests.first?.text ?? "")"))
        let verifier = try #require(form.values(of: "code_verifier").first)
        for secret in ["fixture-code", verifier] {
            #expect(!"\(failure) \(String(reflecting: failure))".contains(secret))
        }
        #expect(transport.requests.count == 1, "a code is sent once")
    }

    @Test func `a server without S256 is refused before a page is shown`() async throws {
        let server = OAuth2Server(
            issuer: "https://id.example.com", tokenEndpoint: .tokenEndpoint,
            authorizationEndpoint: URL(string: "https://id.example.com/authorize"), codeChallengeMethods: ["plain"])
        let signIn = OAuth2CodeSignIn(server: server, client: .fixture, network: NetworkClient(StubTransport()))
        let userAgent = LoopbackUserAgent { _ in Issue.record("a page is shown") }
        #expect(await signInError { try await signIn.start(session, with: userAgent) }?.code == .unsupported)
    }

    @Test func `tokens that are no bearer tokens do not start a session`() async throws {
        let transport = StubTransport(.any ~> .text(#"{"access_token":"fixture-access","token_type":"mac"}"#))
        #expect(await signInError { try await signIn("code=a&state=STATE", transport) }?.code == .invalidResponse)
        #expect(session.signIns.isEmpty)
    }
}
#endif
