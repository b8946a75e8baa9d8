import AuthInterface
import DataAPI
import HandlerTesting
import NetworkCore
import NetworkTesting
import Testing

/// G4 for servers that differ from the documented rules of `RESTRejection`.
@Suite struct RejectionRulesTests {
    /// A server, the rules for it, and what its responses mean.
    static let servers: [(String, RESTRejection, [(StubResponse, TokenRefreshError.Code)])] = [
        (
            "every error in the envelope ends the session", .anyEnvelopeError,
            [
                (.error(400, code: "AUTH_004"), .rejected), (.error(419, code: "AUTH_004"), .rejected),
                (.error(200, code: "AUTH_004"), .rejected), (.text(#"{"success":false}"#, status: 422), .rejected),
                (.error(403, code: "UPGRADE_REQUIRED"), .unavailable), (.error(200, code: "MAINTENANCE"), .unavailable),
                (.error(503, code: "AUTH_004"), .unavailable), (.error(429, code: "AUTH_004"), .unavailable),
                (.status(419), .ambiguous), (.status(403), .unavailable),
                (.text(#"{"message":"Forbidden"}"#, status: 403), .unavailable),
            ]
        ),
        (
            "a status ends the session", .statuses([419]),
            [
                (.status(419), .rejected), (.text("expired", status: 419), .rejected), (.status(401), .ambiguous),
                (.error(419, code: "MAINTENANCE"), .unavailable),
                (.body("<html>", status: 419, type: "text/html"), .unavailable),
            ]
        ),
        (
            "the server's own codes end the session", .codes(["AUTH_004"]),
            [
                (.error(401, code: "auth_004"), .rejected), (.error(200, code: "AUTH_004"), .rejected),
                (.error(401, code: "AUTH_001"), .ambiguous), (.error(401, code: "REFRESH_TOKEN_EXPIRED"), .ambiguous),
                (.error(500, code: "AUTH_004"), .unavailable),
            ]
        ),
        (
            "error objects without an envelope", .errorObjects,
            [
                (.text(#"{"error":"refresh_token_expired"}"#, status: 401), .rejected),
                (.text(#"{"error":"token_revoked"}"#, status: 401), .ambiguous),
                (.text(#"{"error":"token_revoked"}"#, status: 400), .ambiguous),
                (.text(#"{"error":"maintenance"}"#, status: 400), .unavailable),
                (.text(#"{"message":"Bad Request"}"#, status: 400), .unavailable),
            ]
        ),
    ]

    @Test(arguments: servers.indices)
    func `the rules fit servers that refuse otherwise`(_ index: Int) async throws {
        let (name, rules, responses) = Self.servers[index]
        for (number, (response, verdict)) in responses.enumerated() {
            #expect(
                await VerdictTests.error(after: response, rejection: rules)?.code == verdict, "\(name), row \(number)")
        }
    }

    /// DI1, DI5.
    static let bodiesThatEndNothing: [(String, TokenRefreshError.Code)] = [
        (#"{"error":"invalid_grant","suberror":"basic_action","claims":"{}"}"#, .userActionRequired),
        (#"{"success":false,"code":"MFA_REQUIRED"}"#, .userActionRequired),
        (#"{"error":"interaction_required"}"#, .userActionRequired), (#"{"error":"invalid_client"}"#, .unavailable),
        (#"{"statusCode":401,"error":"Unauthorized","message":"Client not found"}"#, .unavailable),
        (#"{"success":false,"code":"UNKNOWN_CLIENT"}"#, .unavailable),
        (#"{"message":"Invalid client."}"#, .unavailable),
        (#"{"error":{"code":"unauthorized_client"}}"#, .unavailable),
        (#"{"success":false,"code":"MFA_REQUIRED","data":{"accessToken":"limited"}}"#, .userActionRequired),
        (#"{"success":false,"code":"REFRESH_TOKEN_EXPIRED","data":{"refreshToken":"another"}}"#, .unavailable),
        (#"{"success":false,"code":"AUTH_004","data":{"refreshToken":"another"}}"#, .unavailable),
    ]

    @Test(arguments: bodiesThatEndNothing.indices)
    func `what the user has to do, and a wrong client, end no session`(_ index: Int) async throws {
        let (body, verdict) = Self.bodiesThatEndNothing[index]
        for status in [400, 401, 403] {
            let error = await VerdictTests.error(after: .text(body, status: status))
            #expect(error?.code == verdict, "\(status)")
            #expect((error?.stepUp != nil) == (verdict == .userActionRequired))
        }
    }

    @Test func `a rule counts beside the sets, in a success too, and what never ends wins`() async throws {
        var rules = RESTRejection()
        rules.rules = .gitHub
        let dead = StubResponse.text(#"{"error":"bad_refresh_token"}"#)
        #expect(await VerdictTests.error(after: dead, rejection: rules)?.code == .rejected)
        #expect(await VerdictTests.error(after: dead)?.code == .unavailable)
        rules.rules.append(try .neverEnds("SESSION_EXPIRED", "bad_refresh_token"))
        #expect(await VerdictTests.error(after: dead, rejection: rules)?.code == .unavailable)
        let expired = StubResponse.error(401, code: "SESSION_EXPIRED")
        #expect(await VerdictTests.error(after: expired, rejection: rules)?.code == .unavailable)
        var cognito = RESTRejection()
        cognito.refreshTokenCodes.insert("NotAuthorizedException")
        let body = #"{"__type":"NotAuthorizedException","message":"x"}"#
        #expect(await VerdictTests.error(after: .text(body, status: 400), rejection: cognito)?.code == .rejected)
    }

    @Test func `DI12: a plain refusal says which rule would end the session`() async throws {
        let error = await VerdictTests.error(after: .text(#"{"message":"Refresh failed"}"#, status: 400))
        #expect(error?.code == .unavailable && error?.reason?.contains(".statuses([400])") == true)
    }

    @Test func `a status that is configured as expired is ambiguous, and says so`() async throws {
        var rules = RESTRejection()
        rules.expiredStatuses = [401, 498]
        let configured = await VerdictTests.error(after: .status(498), rejection: rules)
        #expect(configured?.code == .ambiguous && configured?.statusMeansExpired == true)
        #expect(await VerdictTests.error(after: .status(419), rejection: rules)?.code == .unavailable)
    }

    @Test func `the codes, their statuses and the envelope are configurable`() async throws {
        var rejection = RESTRejection()
        rejection.refreshTokenCodes = ["E4711"]
        rejection.statuses = [498]
        rejection.envelopeMembers = ["fault", "trace"]
        rejection.unrelatedCodes = []
        let responses: [(StubResponse, TokenRefreshError.Code)] = [
            (.error(498, code: "E4711"), .rejected), (.error(400, code: "E4711"), .unavailable),
            (.error(401, code: "REFRESH_TOKEN_EXPIRED"), .ambiguous),
            (.text(#"{"fault":"x","trace":"y"}"#, status: 401), .rejected),
        ]
        for (response, verdict) in responses {
            #expect(await VerdictTests.error(after: response, rejection: rejection)?.code == verdict)
        }
        rejection.envelopeMembers = []
        #expect(await VerdictTests.error(after: .error(401, code: "X"), rejection: rejection)?.code == .ambiguous)
    }
}
