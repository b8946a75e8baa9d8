import AuthInterface
import DataAPI
import HandlerTesting
import NetworkCore
import NetworkTesting
import Testing

/// G4 for `POST auth/refresh`: every status with every body and media type.
@Suite struct VerdictTests {
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

    static func envelope(_ code: String) -> String { #"{"success":false,"code":"\#(code)","message":"No."}"# }

    static let rows: [Row] = [
        Row("an envelope with REFRESH_TOKEN_EXPIRED", envelope("REFRESH_TOKEN_EXPIRED"), listed),
        Row("an envelope with REFRESH_TOKEN_REUSED", envelope("REFRESH_TOKEN_REUSED"), listed),
        Row("an envelope with REFRESH_TOKEN_INVALID", envelope("REFRESH_TOKEN_INVALID"), listed),
        Row("an envelope with session_revoked in lower case", envelope("session_revoked"), listed),
        Row("an error object with a listed code", #"{"error":"invalid_grant"}"#, listedWithoutEnvelope),
        Row(
            "a listed code beside a number", #"{"code":400,"error_code":"refresh_token_not_found"}"#,
            listedWithoutEnvelope),
        Row("a listed code inside an error", #"{"error":{"code":"REFRESH_TOKEN_REVOKED"}}"#, listedWithoutEnvelope),
        Row("an envelope that says no more than the status", envelope("UNAUTHORIZED"), [401: .rejected]),
        Row("an envelope with a code of its own", envelope("E17"), [401: .rejected]),
        Row("an envelope that refuses the app's key", envelope("API_KEY_INVALID"), [:]),
        Row("an envelope that refuses the moment", envelope("temporarily_unavailable"), [:]),
        Row("an envelope that claims success", #"{"success":true,"code":"OK"}"#, [401: .ambiguous]),
        Row("an envelope without a code", #"{"success":false,"message":"No."}"#, [401: .ambiguous]),
        Row("nothing", "", [401: .ambiguous], asHTML: [:]),
        Row("a gateway's Unauthorized", #"{"message":"Unauthorized"}"#, [401: .ambiguous]),
        Row("a gateway's Forbidden", #"{"message":"Forbidden"}"#, [401: .ambiguous]),
        Row("a framework's error object", #"{"statusCode":401,"error":"Unauthorized"}"#, [401: .ambiguous]),
        Row("an empty object", "{}", [401: .ambiguous]),
        Row("a text", "Unauthorized", [401: .ambiguous], asHTML: [:]),
        Row("an envelope that is cut off", #"{"success":false,"code":"REFRESH_TOK"#, [401: .ambiguous], asHTML: [:]),
        Row("a page", "<html><body>No.</body></html>", [:]),
        Row("a page after white space", "\u{FEFF}\r\n  <!DOCTYPE html><p>REFRESH_TOKEN_EXPIRED</p>", [:]),
    ]

    static func error(after response: StubResponse, rejection: RESTRejection = .init()) async -> TokenRefreshError? {
        let transport = StubTransport(.post("auth/refresh") ~> response)
        let handler = RESTTokenRefreshHandler(network: NetworkClient(transport), rejection: rejection)
        let error = await #expect(throws: TokenRefreshError.self) {
            try await handler.refresh(TokenRefreshRequest(refreshToken: "fixture-refresh"))
        }
        #expect(transport.requests.count == 1, "a refresh is never sent twice")
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
            }
        }
    }

    @Test(arguments: RefusalCases.lost)
    func `without a response a refresh is unavailable, and has no status`(_ code: NetworkError.Code) async throws {
        let error = await Self.error(after: .failure(code))
        #expect(error?.code == .unavailable && error?.status == nil)
    }

    @Test func `a response that breaks off is unavailable, and has no status`() async throws {
        let error = await Self.error(after: .cutOff(status: 200))
        #expect(error?.code == .unavailable && error?.status == nil)
    }

    @Test func `a redirect does not reject the refresh token`() async throws {
        let transport = StubTransport(.post("auth/refresh") ~> .status(302, headers: ["Location": "/login"]))
        let error = await #expect(throws: TokenRefreshError.self) {
            try await RESTTokenRefreshHandler(network: NetworkClient(transport))
                .refresh(TokenRefreshRequest(refreshToken: "fixture-refresh"))
        }
        #expect(error?.code == .unavailable && error?.status == 302)
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

    @Test func `an error carries the server's code, request id and pause`() async throws {
        let rejected = await Self.error(after: .error(401, code: "REFRESH_TOKEN_REUSED", requestId: "r-7"))
        #expect(rejected?.serverCode == "REFRESH_TOKEN_REUSED" && rejected?.requestID == "r-7")
        let busy = await Self.error(after: .error(503, code: "BUSY", headers: ["Retry-After": "11"]))
        #expect(busy?.retryAfter == .seconds(11) && busy?.serverCode == "BUSY")
        let bare = await Self.error(after: .status(502, headers: ["X-Request-ID": "r-8"]))
        #expect(bare?.serverCode == nil && bare?.requestID == "r-8")
    }

    @Test func `an unlisted code is named in the reason`() async throws {
        let error = await Self.error(after: .error(403, code: "APP_TOO_OLD"))
        #expect(error?.reason?.contains("APP_TOO_OLD") == true)
        #expect(error?.reason?.contains("the session stays") == true)
    }

    @Test func `the codes, their statuses and the envelope are configurable`() async throws {
        var rejection = RESTRejection()
        rejection.refreshTokenCodes = ["E4711"]
        rejection.statuses = [498]
        rejection.envelopeMembers = ["fault", "trace"]
        rejection.unrelatedCodes = []
        let responses: [(StubResponse, Verdict)] = [
            (.error(498, code: "E4711"), .rejected), (.error(400, code: "E4711"), .unavailable),
            (.error(401, code: "REFRESH_TOKEN_EXPIRED"), .ambiguous),
            (.text(#"{"fault":"x","trace":"y"}"#, status: 401), .rejected),
        ]
        for (response, verdict) in responses {
            #expect(await Self.error(after: response, rejection: rejection)?.code == verdict)
        }
        rejection.envelopeMembers = []
        #expect(await Self.error(after: .error(401, code: "X"), rejection: rejection)?.code == .ambiguous)
    }
}
