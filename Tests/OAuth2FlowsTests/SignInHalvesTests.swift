#if canImport(CryptoKit) || Crypto
import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import TestSupport
import Testing

@testable import OAuth2Flows

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

    private var exchanges: [LoopbackProvider.Call] { provider.calls(at: "/token") }

    @Test func `a state that was encoded and decoded is finished by another process`() async throws {
        let (page, state) = try await begin()
        #expect(page.values(of: "redirect_uri") == [redirectURI.absoluteString])
        let stored = try JSONDecoder().decode(OAuth2SignInState.self, from: try JSONEncoder().encode(state))
        #expect(stored.expiresAt == clock.date + 600)
        let (tokens, idToken) = try await signIn().finish(callback: callback(of: page), state: stored)
        #expect(tokens.accessToken == "fixture-access" && tokens.refreshToken == "fixture-refresh")
        #expect(tokens.requestedScope == "notes" && tokens.binding == nil && idToken == nil)
        let call = try #require(exchanges.first)
        #expect(call["code"] == ["fixture-code"] && call["redirect_uri"] == [redirectURI.absoluteString])
        #expect(call["code_verifier"].map { PKCE(verifier: $0).challenge } == page.values(of: "code_challenge"))
    }

    @Test func `a callback of another browser, place or server is refused, and an issuer that is promised is demanded`()
        async throws
    {
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
        do {
            _ = try await signIn().finish(callback: callback(of: page), state: state)
            #expect(expected == nil)
        } catch let error as OAuth2SignInError {
            #expect(error.code.rawValue == expected && exchanges.isEmpty)
        }
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
