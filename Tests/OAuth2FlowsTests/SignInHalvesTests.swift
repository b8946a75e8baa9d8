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

    /// A server that takes each code once.
    init() throws {
        let used = Locked<Set<String>>([])
        provider = try LoopbackProvider { call in
            guard call.path == "/token", let code = call["code"].first else { return nil }
            let isNew = used.withLock { $0.insert(code).inserted }
            return isNew ? nil : .json(#"{"error":"invalid_grant"}"#, status: 400)
        }
    }

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

    @Test func `the state of another browser is refused`() async throws {
        let (ofStranger, _) = try await begin()
        let (_, state) = try await begin()
        let error = await signInError { try await signIn().finish(callback: callback(of: ofStranger), state: state) }
        #expect(error?.code == .mismatch && exchanges.isEmpty)
    }

    @Test func `a callback at another place than the redirect URI says so`() async throws {
        let (page, state) = try await begin()
        let sent = callback(of: page, at: url("http://10.0.0.7:8080/connected"))
        let error = await signInError { try await signIn().finish(callback: sent, state: state) }
        #expect(error?.code == .mismatch && error?.reason.contains("redirect URI") == true && exchanges.isEmpty)
    }

    @Test func `a state of another server is refused, and an issuer that the server promises is demanded`()
        async throws
    {
        let (page, state) = try await begin()
        for change in [{ $0.issuer = "https://id.example.com" }, { $0.namesIssuerInResponses = true }]
            as [@Sendable (inout OAuth2Server) -> Void]
        {
            let error = await signInError {
                try await signIn(change).finish(callback: callback(of: page), state: state)
            }
            #expect(error?.code == .mismatch && exchanges.isEmpty)
        }
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

    @Test func `a state that is used twice is refused by the server`() async throws {
        let (page, state) = try await begin()
        _ = try await signIn().finish(callback: callback(of: page), state: state)
        let error = await signInError { try await signIn().finish(callback: callback(of: page), state: state) }
        #expect(error?.code == .refused && error?.serverCode == "invalid_grant" && exchanges.count == 2)
        #expect(error.map { "\($0)".contains(state.verifier) } == false)
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
