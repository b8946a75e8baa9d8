#if canImport(CryptoKit) || Crypto
import AuthInterface
import AuthTesting
import ContractTesting
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import OAuth2Flows

@Suite(.timeLimit(.minutes(10))) struct CodeSignInTests {
    private let session = StubSession(.signedOut(.never))

    private func signIn(
        _ userAgent: PromptUserAgent, _ transport: StubTransport = StubTransport(),
        _ change: (inout OAuth2Server) -> Void = { _ in }
    ) async throws {
        var server = OAuth2Server(
            issuer: "https://id.example.com", tokenEndpoint: .tokenEndpoint,
            authorizationEndpoint: URL(string: "https://id.example.com/authorize?a=b"))
        change(&server)
        let signIn = OAuth2CodeSignIn(server: server, client: .fixture, network: NetworkClient(transport))
        try await signIn.start(session, with: userAgent)
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
        let userAgent = PromptUserAgent(answering: query)
        try await signIn(userAgent, transport)
        let page = try #require(userAgent.pages.first)
        let state = try #require(page.values(of: "state").first)
        let shown = page.absoluteString
        #expect(shown.hasPrefix("https://id.example.com/authorize?a=b&response_type=code&"))
        #expect(shown.contains("redirect_uri=http%3A%2F%2F127.0.0.1%3A9%2Fcallback&state=\(state)&"))
        #expect(shown.contains(/&code_challenge=[-_0-9A-Za-z]{43}&code_challenge_method=S256&/))
        #expect(shown.hasSuffix("&client_id=fixture-client"))
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

    @Test(arguments: refused)
    func `a wrong response exchanges nothing`(query: String, code: String, namesIssuer: Bool) async throws {
        let transport = StubTransport()
        let error = await signInError {
            try await signIn(PromptUserAgent(answering: query), transport) { $0.namesIssuerInResponses = namesIssuer }
        }
        #expect(error?.code.rawValue == code, "\(query)")
        #expect(transport.requests.isEmpty)
        #expect(session.signIns.isEmpty)
    }

    @Test(arguments: [
        ("myapp://callback?code=a", "MyApp://callback", true), ("http://127.0.0.1:9/?a", "http://127.0.0.1:9", true),
        ("https://app.example/cb?code=a", "https://APP.example:443/cb", true),
        ("myapp://other?code=a", "MyApp://callback", false), ("http://a.example/a", "http://a.example/A", false),
        ("http://127.0.0.1:8/callback", "http://127.0.0.1:9/callback", false),
        ("http://a.example/", "http://a.example/callback", false), ("http://a.example/", "https://a.example", false),
    ])
    func `a redirect URI is compared as browsers write it`(response: String, redirectURI: String, isSame: Bool) throws {
        let (response, redirectURI) = (try #require(URL(string: response)), try #require(URL(string: redirectURI)))
        #expect(OAuth2SignInPage.isSame(response, redirectURI) == isSame)
    }

    @Test func `no error quotes the code or the verifier`() async throws {
        let transport = StubTransport(.any ~> .error(400, code: "invalid_grant", message: "no such code: fixture-code"))
        let error = await signInError { try await signIn(PromptUserAgent(), transport) }
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
        let userAgent = PromptUserAgent()
        let error = await signInError { try await signIn(userAgent) { $0.codeChallengeMethods = ["plain"] } }
        #expect(error?.code == .unsupported && userAgent.pages.isEmpty)
    }

    static let useless: [(StubResponse, code: String)] = [
        (.text(#"{"access_token":"fixture-access","token_type":"mac"}"#), "invalidResponse"), (.redirect, "redirected"),
    ]

    @Test func `G15: tokens that are no bearer tokens, and a redirect, do not start a session`() async throws {
        for (response, code) in Self.useless {
            let error = await signInError { try await signIn(PromptUserAgent(), StubTransport(.any ~> response)) }
            #expect(error?.code.rawValue == code && session.signIns.isEmpty)
        }
    }
}

/// US2: a sign-in that one request or process begins, and another one finishes, over real sockets.
@Suite(.timeLimit(.minutes(10))) struct SignInHalvesTests {
    private let provider: LoopbackProvider
    private let clock = ManualTimeSource()

    init() throws { provider = try LoopbackProvider() }

    /// The sign-in, as each process configures it.
    private func signIn(_ change: (inout OAuth2Server) -> Void = { _ in }) -> OAuth2CodeSignIn {
        var signIn = provider.codeSignIn(scope: "notes", change)
        signIn.clock = clock
        return signIn
    }

    private func begin() async throws -> (url: URL, state: OAuth2SignInState) {
        try await signIn().begin(redirectingTo: redirectURI)
    }

    private var exchanges: [LoopbackServer.Request] { provider.calls(at: "/token") }

    @Test func `a state that was encoded and decoded is finished by another process`() async throws {
        let (page, state) = try await begin()
        #expect(page.values(of: "redirect_uri") == [redirectURI.absoluteString])
        let stored = try JSONDecoder().decode(OAuth2SignInState.self, from: try JSONEncoder().encode(state))
        #expect(stored.expiresAt == clock.date + 600)
        let (tokens, idToken) = try await signIn().finish(callback: callback(of: page), state: stored)
        #expect(tokens.accessToken == "fixture-access" && tokens.refreshToken == "fixture-refresh")
        #expect(tokens.requestedScope == "notes" && tokens.binding == nil && idToken == nil)
        let call = try #require(exchanges.first)
        #expect(call[form: "code"] == ["fixture-code"] && call[form: "redirect_uri"] == [redirectURI.absoluteString])
        #expect(call[form: "code_verifier"].map { PKCE(verifier: $0).challenge } == page.values(of: "code_challenge"))
    }

    @Test func `a callback of another browser, place or server is refused`() async throws {
        let (page, state) = try await begin()
        let (ofStranger, _) = try await begin()
        let place = url("http://10.0.0.7:8080/connected")
        let wrong: [(callback: URL, reason: String, server: @Sendable (inout OAuth2Server) -> Void)] = [
            (callback(of: ofStranger), "", { _ in }), (callback(of: page, at: place), "redirect URI", { _ in }),
            (callback(of: page), "", { $0.issuer = "https://id.example.com" }),
            (callback(of: page), "", { $0.namesIssuerInResponses = true }),
        ]
        for (callback, reason, change) in wrong {
            let error = await signInError { try await signIn(change).finish(callback: callback, state: state) }
            #expect(error?.code == .mismatch && (reason.isEmpty || error?.reason.contains(reason) == true))
        }
        #expect(exchanges.isEmpty)
        let issuer = "iss=\(provider.issuer.replacingOccurrences(of: ":", with: "%3A"))"
        _ = try await signIn { $0.namesIssuerInResponses = true }
            .finish(callback: url("\(callback(of: page))&\(issuer)"), state: state)
    }

    @Test(arguments: [(599, nil), (600, "expired"), (86_400, "expired")])
    func `a state is finished within its time`(_ seconds: Int, _ expected: String?) async throws {
        let (page, state) = try await begin()
        clock.advance(by: .seconds(seconds))
        let code = try await signInCode { try await signIn().finish(callback: callback(of: page), state: state) }
        #expect(code == expected && exchanges.isEmpty == (expected != nil))
    }

    @Test func `with a user agent, its own time counts`() async throws {
        var signIn = signIn()
        signIn.maximumDuration = .zero
        let clock = clock
        let session = StubSession(.signedOut(.never))
        try await signIn.start(session, with: PromptUserAgent { _ in clock.advance(by: .seconds(86_400)) })
        #expect(session.signIns.map(\.refreshToken) == ["fixture-refresh"])
    }

    @Test func `G17: no description, debug description or dump of a state shows it`() async throws {
        var signIn = signIn()
        signIn.scope = "openid"
        let (_, state) = try await signIn.begin(redirectingTo: redirectURI)
        var dumped = ""
        dump(state, to: &dumped)
        let secrets = [state.state, state.verifier, try #require(state.nonce)]
        for text in ["\(state)", String(reflecting: state), "\([state])", dumped] {
            #expect(text.contains(provider.issuer) && !secrets.contains(where: text.contains), "\(text)")
        }
    }
}

/// Where the callbacks of a server arrive.
let redirectURI = url("https://app.example.com/connected")

/// The callback of a page whose user has agreed.
func callback(of page: URL, at place: URL = redirectURI) -> URL {
    url("\(place)?code=fixture-code&state=\(page.values(of: "state").first ?? "")")
}
#endif
