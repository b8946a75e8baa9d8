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
