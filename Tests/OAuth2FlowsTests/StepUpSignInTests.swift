#if Crypto
import AuthInterface
import AuthTesting
import ContractTesting
import Foundation
import NetworkCore
import Testing

@testable import OAuth2Flows

/// G32: the sign-in that a server demands of a user who is signed in.
@Suite(.timeLimit(.minutes(10))) struct StepUpSignInTests {
    private let clock = ManualTimeSource()
    private let key = ServerKey.es256("first")
    private let server: LoopbackProvider

    init() throws {
        server = try LoopbackProvider(clock.date, [key])
    }

    /// A session of the user whom the id tokens of the server name.
    private func session(user: String = "fixture-user") -> StubSession {
        var tokens = TokenRefreshResult.fixture()
        tokens.subject = TokenSubject(issuer: server.issuer, id: user)
        return StubSession(tokens: tokens)
    }

    /// Steps up, and returns the page that was shown.
    private func stepUp(
        _ session: StubSession, for challenge: StepUpChallenge, scope: String? = "openid notes",
        hasRefreshToken: Bool = true
    ) async throws -> (page: URL, token: IDToken?) {
        var signIn = server.codeSignIn(scope: scope)
        signIn.idTokens.clock = clock
        signIn.pageParameters = ["acr_values": "low", "prompt": "login"]
        let userAgent = server.user(key, hasRefreshToken: hasRefreshToken) { $0["auth_time"] = "1800000000" }
        let token = try await signIn.stepUp(session, for: challenge, with: userAgent)
        return (try #require(userAgent.pages.first), token)
    }

    @Test func `the page asks for what is demanded, and the session goes on`() async throws {
        let session = session()
        let before = session.state
        let challenge = StepUpChallenge(
            .userAuthentication, acrValues: ["mfa", "phr"], maxAge: .seconds(300), scope: "notes transfer")
        let (page, token) = try await stepUp(session, for: challenge)
        #expect(page.values(of: "acr_values") == ["mfa phr"], "a demand takes the place of a parameter")
        #expect(page.values(of: "prompt") == ["login"] && page.values(of: "max_age") == ["300"])
        #expect(page.values(of: "scope") == ["openid notes transfer"] && page.values(of: "claims") == [])
        #expect(token?.authenticatedAt == clock.date)
        #expect(session.state == before && session.calls == [.token, .stepUp])
        #expect(session.signIns.map(\.requestedScope) == ["openid notes transfer"])
    }

    private static let json = #"{"access_token":{"acrs":{"value":"c1"}}}"#

    @Test(arguments: [
        (json, json), ("eyJhY2Nlc3NfdG9rZW4iOnsiYWNycyI6eyJ2YWx1ZSI6ImMxIn19fQ==", json),
        ("eyJhY2Nlc3NfdG9rZW4iOnsiYWNycyI6eyJ2YWx1ZSI6ImMxIn19fQ", json), ("bm90IEpTT04=", "bm90IEpTT04="),
    ])
    func `claims are asked for as JSON, also where the challenge has them in Base64, and else as they came`(
        _ claims: String, _ asked: String
    ) async throws {
        let (page, _) = try await stepUp(session(), for: StepUpChallenge(.claims, claims: claims))
        #expect(page.values(of: "claims") == [asked])
        #expect(page.values(of: "acr_values") == ["low"] && page.values(of: "max_age") == [])
    }

    @Test func `another user, or one that is not known, starts another session`() async throws {
        for (user, scope) in [("other", "openid"), ("fixture-user", "notes")] {
            let session = session(user: user)
            let before = session.state
            _ = try await stepUp(session, for: StepUpChallenge(.scope), scope: scope)
            #expect(session.state != before && session.calls == [.token, .stepUp])
        }
    }

    @Test func `tokens without a refresh token, and no id token, are errors, and the session goes on`() async throws {
        let session = session()
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
