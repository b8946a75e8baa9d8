import AuthInterface
import Foundation
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCore

/// G32: a demand for another sign-in is neither a refusal of the token nor an end.
@Suite(.timeLimit(.minutes(10))) struct StepUpTests {
    private let provider = ScriptedTokenProvider()
    private let transport = StubTransport()

    private var network: AuthenticatedNetworkClient {
        NetworkClient(transport).authenticated(by: provider)
    }

    /// The failure of a call whose response has a challenge.
    private func failure(_ field: String, status: Int = 401) async throws -> NetworkError {
        transport.respond(.challenge(field, status: status))
        return try #require(await networkError { try await network.send(.article(7)) })
    }

    static let demands: [(field: String, status: Int, expected: StepUpChallenge)] = {
        let user = #"Bearer error="insufficient_user_authentication""#
        return [
            (
                user + #", error_description="x", acr_values="high mid", max_age="5""#, 401,
                StepUpChallenge(.userAuthentication, acrValues: ["high", "mid"], maxAge: .seconds(5))
            ),
            (user + #", max_age="0""#, 401, StepUpChallenge(.userAuthentication, maxAge: .zero)),
            (#"Bearer error="insufficient_scope", scope="a b""#, 403, StepUpChallenge(.scope, scope: "a b")),
            (#"Bearer error="insufficient_scope""#, 401, StepUpChallenge(.scope)),
            (#"DPoP error="Insufficient_Scope", scope="a""#, 403, StepUpChallenge(.scope, scope: "a")),
            (
                #"Bearer realm="", error="insufficient_claims", claims="eyJhIjoxfQ==""#, 401,
                StepUpChallenge(.claims, claims: "eyJhIjoxfQ==")
            ),
            (#"Basic, Bearer error="insufficient_scope", scope="a""#, 403, StepUpChallenge(.scope, scope: "a")),
        ]
    }()

    @Test(arguments: demands)
    func `G32: a demand fails its call with what is demanded, refreshes nothing and is not sent again`(
        field: String, status: Int, expected: StepUpChallenge
    ) async throws {
        let failure = try await failure(field, status: status)
        #expect(failure.code == .stepUpRequired && failure.stepUp == expected && failure.status == status)
        #expect(provider.refusals.isEmpty && transport.requests.count == 1)
    }

    @Test(arguments: [
        #"Bearer error="invalid_token""#, #"Bearer error="insufficient_claims""#, #"Bearer"#,
        #"Bearer error="invalid_token", Bearer error="insufficient_scope""#,
        #"Basic error="insufficient_user_authentication""#,
    ])
    func `G32: another challenge, and one beside an invalid token, refuses the token`(field: String) async throws {
        transport.respond(.challenge(field), .article)
        _ = try await network.send(.article(7))
        #expect(provider.refusals.count == 1)
    }

    @Test func `G32: a demand in response to a request without the session's token is no demand of the session`()
        async throws
    {
        transport.respond(.challenge(#"Bearer error="insufficient_user_authentication""#))
        let failure = await networkError { try await NetworkClient(transport).send(.article(7)) }
        #expect(failure?.code == .unacceptableStatus && failure?.stepUp == nil)
        // A redirect to another origin takes the token away: that origin demands nothing of the session.
        transport.respond(.redirect(to: "https://other.example/7"))
        let foreign = try await self.failure(#"Bearer error="insufficient_user_authentication""#)
        #expect(foreign.code == .unacceptableStatus && foreign.stepUp == nil)
        #expect(provider.refusals.isEmpty)
    }

    @Test func `G17, G26: of a demand what is too long, or quotes a token, is left out, and no claims are shown`()
        async throws
    {
        let long = String(repeating: "a", count: StepUpChallenge.maximumLength + 1)
        let quoting = try await failure(
            #"Bearer error="insufficient_scope", scope="\#(long)", acr_values="x access-0", max_age="-1", claims="c1""#)
        #expect(quoting.stepUp == StepUpChallenge(.scope, claims: "c1"))
        let claims = try await failure(#"Bearer error="insufficient_claims", claims="for-ada", max_age="1e9""#)
        #expect(claims.stepUp == StepUpChallenge(.claims, claims: "for-ada"))
        #expect(!"\(claims) \(claims.stepUp.map { "\($0)" } ?? "")".contains("for-ada"))
        #expect("\(claims)".contains("insufficient_claims"))
    }

    @Test func `G32: what the user reads asks for a sign-in and does not say that the session is over`() async throws {
        let failure = try await failure(#"Bearer error="insufficient_user_authentication""#)
        #expect(failure.localizedDescription == "The server asks for another sign-in before it does this.")
        #expect(failure.recoverySuggestion == "Sign in again to do this.")
    }
}
