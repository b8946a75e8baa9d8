import AuthInterface
import Foundation
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCore

/// G10, G22, G24: the engine receives the details of a refusal.
@Suite("The refusal of a token", .timeLimit(.minutes(10)))
struct TokenRefusalTests {
    let provider = ScriptedTokenProvider()

    private func refusal(
        _ responses: StubResponse...,
        policy: AuthenticationPolicy = AuthenticationPolicy(),
        to endpoint: Endpoint<HTTPResponse> = .request(.get, "articles/7", query: ["access_token": "x", "page": "2"])
    ) async throws -> TokenRefusal {
        let transport = StubTransport((responses + [.status(204)]).map { .any ~> $0 })
        _ = try await NetworkClient(transport).authenticated(by: provider, policy: policy).send(endpoint)
        return try #require(provider.refusals.first)
    }

    @Test func `a refusal names the method, the origin, its port and the path of what refused, and no query`()
        async throws
    {
        #expect(try await refusal(.status(401)).endpoint == "GET https://api.example.com/api/v1/articles/7")
        _ = try await refusal(.redirect(307, to: "/api/v2/articles/7?code=s3cret"), .status(401))
        #expect(provider.refusals.last?.endpoint == "GET https://api.example.com/api/v2/articles/7")
        let endpoint = Endpoint<HTTPResponse>.request(.get, .url(url("https://API.example.com:8443/a%20b?x=1#y")))
        let other = try #require(Origin(url("https://api.example.com:8443")))
        _ = try await refusal(.status(401), policy: .with { $0.origins = [other] }, to: endpoint)
        #expect(provider.refusals.last?.endpoint == "GET https://api.example.com:8443/a%20b")
    }

    @Test func `a refusal has the status, the server's code and its request identifier`() async throws {
        let refusal = try await refusal(.error(401, code: "TOKEN_EXPIRED", requestId: "r-1"))
        #expect(refusal.token == .first)
        #expect(refusal.status == 401 && refusal.serverCode == "TOKEN_EXPIRED" && refusal.requestID == "r-1")
    }

    /// Refusals, and whether they say that the token is invalid.
    static let verdicts: [(response: StubResponse, policy: AuthenticationPolicy, isInvalid: Bool)] = {
        let standard = AuthenticationPolicy()
        let own = AuthenticationPolicy.with { ($0.expiredStatuses, $0.invalidTokenCodes) = ([419], ["E17"]) }
        let rule = TokenRefusalRule.codes(["AUTH_001"])
        let ruled = AuthenticationPolicy.with { ($0.expiredStatuses, $0.refusals) = ([401, 419], rule) }
        return [
            (.error(401, code: "TOKEN_EXPIRED"), standard, true), (.error(401, code: "invalid_token"), standard, true),
            (.challenge(#"Bearer error="invalid_token""#), standard, true), (.challenge("Bearer"), standard, false),
            (.challenge(#"Basic realm="invalid_token""#), standard, false), (.status(401), standard, false),
            (.error(401, code: "UNAUTHORIZED"), standard, false), (.error(401, code: "MFA_REQUIRED"), standard, false),
            (.error(419, code: "e17"), own, true), (.error(419, code: "TOKEN_EXPIRED"), own, false),
            (.error(401, code: "auth_001"), ruled, true), (.error(419, code: "auth_001"), ruled, true),
        ]
    }()

    @Test(arguments: verdicts.indices)
    func `G22: a listed code, in any case, and a Bearer challenge say that the token is invalid`(
        _ index: Int
    ) async throws {
        let (response, policy, isInvalid) = Self.verdicts[index]
        #expect(try await refusal(response, policy: policy).saysTokenIsInvalid == isInvalid)
    }

    @Test(arguments: [
        #"{"error":{"code":498,"message":"Invalid token.","details":[]}}"#,
        #"{"errors":[{"message":"x","extensions":{"code":"498"}}],"data":null}"#,
    ])
    func `LE6: an error inside a success refuses the token where its code is listed, and fails the call`(
        body: String
    ) async throws {
        let policy = AuthenticationPolicy.with { $0.refusals = .codes(["498"]) }
        let success = StubResponse.status(200, body: Data(body.utf8))
        let client = NetworkClient(StubTransport(responding: success, .article, success))
        #expect(try await client.authenticated(by: provider, policy: policy).send(.article(7)).id == 7)
        #expect(provider.refusals.first?.saysTokenIsInvalid == true)
        let failure = await #expect(throws: NetworkError.self) { try await client.send(.article(7)) }
        #expect(failure?.code == .unsuccessful && failure?.serverError?.code == "498")
    }

    @Test func `a token that the server quotes in its code does not reach the engine`() async throws {
        let code = "BAD_TOKEN access-0\u{1B}[31m refresh-0" + String(repeating: "x", count: 1_000)
        let refusal = try await refusal(.error(401, code: code, requestId: "id of access-0"))
        #expect(refusal.serverCode?.hasPrefix("BAD_TOKEN redacted [31m redactedxxx") == true)
        #expect((refusal.serverCode?.count ?? 0) <= 128)
        #expect(refusal.requestID == "id of redacted")
    }

    // MARK: G32: a demand for another sign-in is neither a refusal of the token nor an end

    private let transport = StubTransport()

    private var network: AuthenticatedNetworkClient { NetworkClient(transport).authenticated(by: provider) }

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
