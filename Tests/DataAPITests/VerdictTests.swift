import AuthInterface
import DataAPI
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import Testing

/// G4 for `POST auth/refresh`: every status with every body and media type.
@Suite(.timeLimit(.minutes(10))) struct VerdictTests {
    typealias Verdict = TokenRefreshError.Code

    /// A body, and the statuses with which it means more than *unavailable*.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let body: String
        let verdicts: [Int: Verdict]
        /// The same under an HTML media type, which makes a page of everything but a JSON object.
        let verdictsAsHTML: [Int: Verdict]

        init(_ description: String, _ body: String, _ verdicts: [Int: Verdict], asHTML: [Int: Verdict]? = nil) {
            testDescription = description
            self.body = body
            self.verdicts = verdicts
            verdictsAsHTML = asHTML ?? verdicts
        }
    }

    static let listed = Dictionary(
        uniqueKeysWithValues: [200, 400, 401, 403, 409, 410, 419, 422].map { ($0, Verdict.rejected) })
    static let listedWithoutEnvelope = listed.filter { $0.key != 200 }

    /// An envelope that refuses, and does not say what.
    static let unlisted: [Int: Verdict] = [
        200: .ambiguous, 400: .ambiguous, 401: .rejected, 403: .ambiguous, 409: .ambiguous, 419: .ambiguous,
        422: .ambiguous,
    ]

    /// A refusal that is not in the envelope.
    static let bare: [Int: Verdict] = [401: .ambiguous, 419: .ambiguous]

    static func envelope(_ code: String) -> String { #"{"success":false,"code":"\#(code)","message":"No."}"# }

    /// Codes in an envelope: those that refuse the token, those of the server's own, and those that refuse something
    /// else: the application's version or key, the rate, another call of the same time, the moment.
    private static let envelopes: [Row] = [
        (["REFRESH_TOKEN_EXPIRED", "REFRESH_TOKEN_REUSED", "REFRESH_TOKEN_INVALID", "session_revoked"], listed),
        (["UNAUTHORIZED", "AUTH_004"], unlisted),
        (["APP_TOO_OLD", "RATE_LIMITED", "conflict", "API_KEY_INVALID", "temporarily_unavailable"], [:]),
    ].flatMap { codes, verdicts in codes.map { Row("an envelope with \($0)", envelope($0), verdicts) } }

    static let rows: [Row] =
        envelopes + [
            Row("an error object with a listed code", #"{"error":"invalid_grant"}"#, listedWithoutEnvelope),
            Row(
                "a listed code beside a number", #"{"code":400,"error_code":"refresh_token_not_found"}"#,
                listedWithoutEnvelope),
            Row(
                "a listed code beside a sentence",
                #"{"error":"REFRESH_TOKEN_EXPIRED","message":"Invalid client"}"#, listedWithoutEnvelope),
            Row(
                "a code of the server's own beside a sentence",
                #"{"success":false,"code":"AUTH_004","message":"Invalid request"}"#, unlisted),
            Row("a listed code inside an error", #"{"error":{"code":"REFRESH_TOKEN_REVOKED"}}"#, listedWithoutEnvelope),
            Row("an envelope whose code is a number", #"{"success":false,"code":4001}"#, unlisted),
            Row("an envelope whose code is null", #"{"success":false,"code":null}"#, unlisted),
            Row("an envelope with a number for success", #"{"success":0,"code":"AUTH_004"}"#, unlisted),
            Row(
                "a listed code beside an unrelated one",
                #"{"success":false,"code":"CONFLICT","error":"INVALID_GRANT"}"#, [:]),
            Row("an envelope that claims success", #"{"success":true,"code":"OK"}"#, bare),
            Row(
                "an envelope without a code", #"{"success":false,"message":"No."}"#,
                bare.merging([200: .ambiguous]) { $1 }),
            Row("nothing", "", bare, asHTML: [:]),
            Row("a gateway's Unauthorized", #"{"message":"Unauthorized"}"#, bare),
            Row("a gateway's Forbidden", #"{"message":"Forbidden"}"#, bare),
            Row("a framework's error object", #"{"statusCode":401,"error":"Unauthorized"}"#, bare),
            Row("an empty object", "{}", bare),
            Row("a text", "Unauthorized", bare, asHTML: [:]),
            Row("an envelope that is cut off", #"{"success":false,"code":"REFRESH_TOK"#, bare, asHTML: [:]),
            Row("a page", "<html><body>No.</body></html>", [:]),
            Row("a page after white space", "\u{FEFF}\r\n  <!DOCTYPE html><p>REFRESH_TOKEN_EXPIRED</p>", [:]),
        ]

    static func error(after response: StubResponse, rejection: RESTRejection = .init()) async -> TokenRefreshError? {
        let transport = StubTransport(.post("auth/refresh") ~> response)
        let handler = RESTTokenRefreshHandler(
            network: NetworkClient(transport), rejection: rejection, replayTolerance: .sameKey)
        let error = await handler.refreshError(
            TokenRefreshRequest(refreshToken: "fixture-refresh", idempotencyKey: "fixture-key"))
        #expect(transport.requests.count == 1, "a retry policy repeats no refresh, with a key neither")
        return error
    }

    @Test(arguments: rows)
    func `only a refusal of the refresh token itself ends the session`(_ row: Row) async throws {
        for status in RefusalCases.statuses {
            for type in RefusalCases.mediaTypes {
                let error = await Self.error(after: .body(row.body, status: status, type: type))
                let verdicts = type?.contains("html") == true ? row.verdictsAsHTML : row.verdicts
                #expect(error?.code == verdicts[status] ?? .unavailable, "\(status) \(type ?? "no type")")
                #expect(error?.status == status, "a response arrived")
                if error?.code == .ambiguous { #expect(error?.statusMeansExpired == [401, 419].contains(status)) }
            }
        }
    }

    @Test(arguments: RefusalCases.withoutResponse)
    func `without a whole response a refresh is unavailable, and has no status`(_ response: StubResponse) async throws {
        let error = await Self.error(after: response)
        #expect(error?.code == .unavailable && error?.status == nil)
    }

    static let odd: [StubResponse] = [
        .text(#"{"success":true,"data":{}}"#), .text(#"{"success":true,"data":{"accessToken":""}}"#),
        .text(#"{"success":true,"data":{"accessToken":"","refreshToken":"fixture-refresh"}}"#),
        .text(#"{"success":true}"#), .text("[]"), .status(204), .error(200, code: "MAINTENANCE"),
    ]

    @Test(arguments: odd.indices)
    func `a success without tokens is unavailable`(_ index: Int) async throws {
        let error = await Self.error(after: Self.odd[index])
        #expect(error?.code == .unavailable && error?.status == (index == 5 ? 204 : 200))
    }

    @Test(arguments: RefusalCases.statuses.filter { $0 / 100 != 3 })
    func `a refusal whose body breaks off is unavailable, and has no status`(_ status: Int) async throws {
        for rules in [RESTRejection(), .anyEnvelopeError, .statuses([401, 419])] {
            let error = await Self.error(after: .cutOff(status: status), rejection: rules)
            #expect(error?.code == .unavailable && error?.status == nil)
        }
    }

    @Test func `an error carries the server's code, request id and pause`() async throws {
        let rejected = await Self.error(after: .error(401, code: "REFRESH_TOKEN_REUSED", requestId: "r-7"))
        #expect(rejected?.serverCode == "REFRESH_TOKEN_REUSED" && rejected?.requestID == "r-7")
        let busy = await Self.error(after: .error(503, code: "BUSY", headers: ["Retry-After": "11"]))
        #expect(busy?.retryAfter == .seconds(11) && busy?.serverCode == "BUSY")
        let fraction = await Self.error(after: .status(503, headers: ["Retry-After": "2.542"]))
        #expect(fraction?.retryAfter == .seconds(3))
        let bare = await Self.error(after: .status(502, headers: ["X-Request-ID": "r-8"]))
        #expect(bare?.serverCode == nil && bare?.requestID == "r-8")
        let reason = await Self.error(after: .error(403, code: "APP_TOO_OLD"))?.reason
        #expect(reason?.contains("APP_TOO_OLD") == true && reason?.contains("the session stays") == true)
    }

    @Test(arguments: ["30", "Wed, 21 Oct 2099 07:28:00 GMT", "soon"])
    func `a refusal that asks to wait is unavailable, unless a listed code refuses the token`(
        _ pause: String
    ) async throws {
        for status in RefusalCases.statuses {
            for body in [Self.envelope("AUTH_004"), #"{"message":"Unauthorized"}"#, ""] {
                let response = StubResponse.status(status, headers: ["Retry-After": pause], body: Data(body.utf8))
                for rules in [RESTRejection(), .anyEnvelopeError, .statuses([401, 419])] {
                    #expect(await Self.error(after: response, rejection: rules)?.code == .unavailable, "\(status)")
                }
            }
        }
        let listed = StubResponse.error(401, code: "REFRESH_TOKEN_EXPIRED", headers: ["Retry-After": pause])
        #expect(await Self.error(after: listed)?.code == .rejected)
    }

    @Test func `an ambiguous refusal carries the status and the code that must be repeated`() async throws {
        let envelope = await Self.error(after: .error(422, code: "AUTH_004"))
        #expect(envelope?.code == .ambiguous && envelope?.status == 422 && envelope?.serverCode == "AUTH_004")
        #expect(envelope?.statusMeansExpired == false)
        #expect(envelope?.reason?.contains("no listed code") == true)
        let other = #"{"success":false,"errorCode":"AUTH_005","code":1}"#
        #expect(await Self.error(after: .text(other, status: 409))?.serverCode == "AUTH_005")
        let quoting = await Self.error(after: .error(400, code: "fixture-refresh"))
        #expect(quoting?.code == .ambiguous && quoting?.serverCode == "redacted")
    }
}
