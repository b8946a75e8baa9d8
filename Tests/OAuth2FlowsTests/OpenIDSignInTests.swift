#if Crypto
import AuthInterface
import AuthTesting
import ContractTesting
import Foundation
import NetworkCore
import Testing

@testable import OAuth2Flows

/// Sign-ins with `openid` in the scope, over real sockets.
@Suite(.timeLimit(.minutes(10))) struct OpenIDSignInTests {
    private let session = StubSession(.signedOut(.never))
    private let clock = ManualTimeSource()
    private let key = ServerKey.es256("first")
    private let server: LoopbackProvider

    init() throws {
        server = try LoopbackProvider(clock.date, [key]) { $0.path == "/revoke" ? .respond(404) : nil }
        // A clock that is wrong by days: the server's counts.
        clock.advance(by: .seconds(1_000_000))
    }

    /// Signs in with a browser. The id token has the claims that `change` makes of good ones and of the nonce.
    private func signIn(
        scope: String? = "openid notes", revocation: (any TokenRevocationHandler)? = nil,
        _ change: @escaping @Sendable (inout Members) -> Void = { _ in }
    ) async throws -> (token: IDToken?, nonces: [String]) {
        var signIn = server.codeSignIn(scope: scope)
        (signIn.idTokens.revocation, signIn.idTokens.clock) = (revocation, clock)
        let userAgent = server.user(key, change)
        let token = try await signIn.start(session, with: userAgent)
        return (token, userAgent.pages.flatMap { $0.values(of: "nonce") })
    }

    @Test func `a sign-in returns who has signed in, after the check of a nonce of its own`() async throws {
        // The half of the digest of `fixture-access`.
        let (token, first) = try await signIn { $0["at_hash"] = #""qwfzkAkzy6P_vIRKwwtdow""# }
        #expect(token?.issuer == server.issuer && token?.subject == "fixture-user")
        #expect(session.signIns.map(\.refreshToken) == ["fixture-refresh"])
        let (_, second) = try await signIn()
        #expect(first.count == 1 && second.count == 1 && first != second && first.first?.count == 43)
    }

    /// Claims that a sign-in looks at itself, and one of the others: `IDTokenTests` has them all.
    static let wrong: [(name: String, value: String?, rule: String)] = [
        ("nonce", #""fixture-other""#, "wrongNonce"), ("nonce", nil, "wrongNonce"), ("exp", "1700000000", "expired"),
        ("at_hash", #""AAAAAAAAAAAAAAAAAAAAAA""#, "wrongAccessToken"),
    ]

    @Test func `an id token that breaks a rule is no sign-in`() async throws {
        for (name, value, rule) in Self.wrong {
            let error = await signInError { try await signIn { $0[name] = value } }
            #expect(error?.code == .invalidIDToken && (error?.cause as? IDTokenError)?.code.rawValue == rule)
            #expect(error.map { "\($0)".contains("fixture-user") } == false)
        }
        server.issue(nil)
        let missing = await signInError {
            try await server.codeSignIn(scope: "openid").start(session, with: PromptUserAgent())
        }
        #expect(missing?.code == .invalidIDToken && (missing?.cause as? IDTokenError)?.code == .missing)
        #expect(session.signIns.isEmpty)
    }

    @Test func `KE7: the tokens beside a refused id token are revoked where that ends no other session`() async throws {
        for (isAlone, fate) in [(true, "could not be revoked"), (false, "stay valid"), (nil, "stay valid")] {
            let revocation = isAlone.map { server.handler(revocationAffectsSessionOnly: $0) }
            let error = await signInError { try await signIn(revocation: revocation) { $0["exp"] = "1" } }
            // The server has no such endpoint.
            #expect(error?.code == .invalidIDToken && error?.reason.hasSuffix(fate) == true)
        }
        #expect(server.calls(at: "/revoke").map { $0[form: "token"] } == [["fixture-refresh"]])
    }

    @Test func `keys that cannot be read are no invalid token: the sign-in is unavailable`() async throws {
        server.publish(.respond(503))
        let error = await signInError { try await signIn() }
        #expect(error?.code == .unavailable && (error?.cause as? IDTokenError)?.code == .keysUnavailable)
        #expect(session.signIns.isEmpty)
    }

    @Test(arguments: [nil, "notes", "openid2 notes"])
    func `without openid in the scope no nonce is sent, and no id token is looked at`(_ scope: String?) async throws {
        let (token, nonces) = try await signIn(scope: scope) { $0["iss"] = #""https://evil.example.com""# }
        #expect(token == nil && nonces.isEmpty && server.fetches == 0)
        #expect(session.signIns.count == 1)
    }

    @Test(arguments: [true, false])
    func `the second half of a sign-in compares the nonce of the first one`(_ isValid: Bool) async throws {
        var signIn = server.codeSignIn(scope: "openid")
        signIn.idTokens.clock = clock
        let (page, state) = try await signIn.begin(redirectingTo: redirectURI)
        let nonce = isValid ? page.values(of: "nonce").first : "fixture-other"
        server.issue(try key.sign(server.claims.merging(["nonce": #""\#(nonce ?? "")""#]) { $1 }))
        do {
            let (tokens, idToken) = try await signIn.finish(callback: callback(of: page), state: state)
            #expect(isValid && idToken?.subject == "fixture-user" && tokens.subject?.id == "fixture-user")
        } catch let error as OAuth2SignInError {
            #expect(!isValid && (error.cause as? IDTokenError)?.code == .wrongNonce)
        }
    }

    @Test(arguments: [true, false])
    func `a device sign-in returns who has signed in, or is refused`(_ isValid: Bool) async throws {
        server.issue(try key.sign(server.claims.merging(isValid ? [:] : ["aud": #""other""#]) { $1 }))
        var signIn = server.deviceSignIn(scope: "openid")
        signIn.idTokens.clock = clock
        var subject: String?
        let code = try await signInCode { subject = try await signIn.start(session) { _ in }?.subject }
        #expect(code == (isValid ? nil : "invalidIDToken") && subject == (isValid ? "fixture-user" : nil))
        #expect(session.signIns.isEmpty == !isValid)
    }

    // G32: the sign-in that a server demands of a user who is signed in.

    /// A session of the user whom the id tokens of the server name.
    private func signedIn() -> StubSession {
        var tokens = TokenRefreshResult.fixture()
        tokens.subject = TokenSubject(issuer: server.issuer, id: "fixture-user")
        return StubSession(tokens: tokens)
    }

    /// Steps up, and returns the page that was shown.
    private func stepUp(
        _ session: StubSession, for challenge: StepUpChallenge, hasRefreshToken: Bool = true
    ) async throws -> (page: URL, token: IDToken?) {
        var signIn = server.codeSignIn(scope: "openid notes")
        signIn.idTokens.clock = clock
        signIn.pageParameters = ["acr_values": "low", "prompt": "login"]
        let userAgent = server.user(key, hasRefreshToken: hasRefreshToken) { $0["auth_time"] = "1800000000" }
        let token = try await signIn.stepUp(session, for: challenge, with: userAgent)
        return (try #require(userAgent.pages.first), token)
    }

    @Test func `the page asks for what is demanded, and the session goes on`() async throws {
        let session = signedIn()
        let before = session.state
        let challenge = StepUpChallenge(
            .userAuthentication, acrValues: ["mfa", "phr"], maxAge: .seconds(300), scope: "notes transfer")
        let (page, token) = try await stepUp(session, for: challenge)
        #expect(page.values(of: "acr_values") == ["mfa phr"], "a demand takes the place of a parameter")
        #expect(page.values(of: "prompt") == ["login"] && page.values(of: "max_age") == ["300"])
        #expect(page.values(of: "scope") == ["openid notes transfer"] && page.values(of: "claims") == [])
        #expect(token?.authenticatedAt == Date(timeIntervalSince1970: 1_800_000_000))
        #expect(session.state == before && session.calls == [.token, .stepUp])
        #expect(session.signIns.map(\.requestedScope) == ["openid notes transfer"])
        #expect(session.signIns.map(\.subject?.id) == ["fixture-user"])
    }

    @Test func `a session that gets no token without the user steps up`() async throws {
        let session = signedIn()
        let before = session.state
        session.fail(.token, with: AuthenticationError(.stepUpRequired))
        _ = try await stepUp(session, for: StepUpChallenge(.interaction))
        #expect(session.state == before && session.calls == [.token, .stepUp])
    }

    private static let json = #"{"access_token":{"acrs":{"value":"c1"}}}"#

    @Test(arguments: [
        (json, json), ("eyJhY2Nlc3NfdG9rZW4iOnsiYWNycyI6eyJ2YWx1ZSI6ImMxIn19fQ==", json),
        ("eyJhY2Nlc3NfdG9rZW4iOnsiYWNycyI6eyJ2YWx1ZSI6ImMxIn19fQ", json), ("bm90IEpTT04=", "bm90IEpTT04="),
    ])
    func `claims, also in Base64, are asked for as JSON, or as is`(_ claims: String, _ asked: String) async throws {
        let (page, _) = try await stepUp(signedIn(), for: StepUpChallenge(.claims, claims: claims))
        #expect(page.values(of: "claims") == [asked])
        #expect(page.values(of: "acr_values") == ["low"] && page.values(of: "max_age") == [])
    }

    @Test func `tokens without a refresh token, and no id token, are errors, and the session goes on`() async throws {
        let session = signedIn()
        let before = session.state
        let error = await signInError {
            _ = try await stepUp(session, for: StepUpChallenge(.userAuthentication), hasRefreshToken: false)
        }
        #expect(error?.code == .invalidResponse && error?.reason.contains("offline_access") == true)
        server.issue(nil)
        let failure = await signInError {
            try await server.codeSignIn(scope: "openid")
                .stepUp(session, for: StepUpChallenge(.userAuthentication), with: PromptUserAgent())
        }
        #expect(failure?.code == .invalidIDToken)
        #expect(session.state == before && session.calls == [.token, .token])
    }
}
#endif
