import AuthInterface
import DataAPI
import NetworkCore
import NetworkTesting
import Testing

/// G4 for `POST auth/refresh`, row by row.
@Suite struct RESTVerdictTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answer: StubAnswer
        let verdict: TokenRefreshError.Code

        init(_ description: String, _ answer: StubAnswer, _ verdict: TokenRefreshError.Code) {
            testDescription = description
            self.answer = answer
            self.verdict = verdict
        }
    }

    static let rejected: [Row] = [
        Row("401 REFRESH_TOKEN_INVALID", .error(401, code: "REFRESH_TOKEN_INVALID"), .rejected),
        Row("401 REFRESH_TOKEN_EXPIRED", .error(401, code: "REFRESH_TOKEN_EXPIRED"), .rejected),
        Row("401 REFRESH_TOKEN_REUSED", .error(401, code: "REFRESH_TOKEN_REUSED"), .rejected),
        Row("403 SESSION_REVOKED", .error(403, code: "SESSION_REVOKED"), .rejected),
        Row("400 REFRESH_TOKEN_EXPIRED", .error(400, code: "REFRESH_TOKEN_EXPIRED"), .rejected),
        Row("200, but no success, and REFRESH_TOKEN_EXPIRED", .error(200, code: "REFRESH_TOKEN_EXPIRED"), .rejected),
        Row("401 without a body", .status(401), .rejected),
        Row("403 without a body", .status(403), .rejected),
        Row("401 UNAUTHORIZED, which says no more than the status", .error(401, code: "UNAUTHORIZED"), .rejected),
        Row("401 with an object that is no error", .text("{}", status: 401), .rejected),
    ]

    static let unavailable: [Row] = [
        Row("no connection", .failure(.connectionFailed), .unavailable),
        Row("a time-out", .failure(.timedOut), .unavailable),
        Row("a server that cannot prove who it is", .failure(.tlsFailed), .unavailable),
        Row("an exchange that breaks off", .failure(.transportFailed), .unavailable),
        Row("400 without a code", .status(400), .unavailable),
        Row("400 VALIDATION_FAILED", .error(400, code: "VALIDATION_FAILED"), .unavailable),
        Row("400 UNAUTHORIZED", .error(400, code: "UNAUTHORIZED"), .unavailable),
        Row("401 API_KEY_INVALID: the app is at fault", .error(401, code: "API_KEY_INVALID"), .unavailable),
        Row("403 APP_TOO_OLD", .error(403, code: "APP_TOO_OLD"), .unavailable),
        Row("403 with a firewall's page", .text("<html>No.</html>", status: 403, type: "text/html"), .unavailable),
        Row("401 with a proxy's text", .text("Log in.", status: 401, type: "text/plain"), .unavailable),
        Row("404", .status(404), .unavailable),
        Row("404 REFRESH_TOKEN_INVALID", .error(404, code: "REFRESH_TOKEN_INVALID"), .unavailable),
        Row("407, a proxy's login", .status(407), .unavailable),
        Row("408", .error(408, code: "REFRESH_TOKEN_EXPIRED"), .unavailable),
        Row("425", .status(425), .unavailable),
        Row("429", .error(429, code: "REFRESH_TOKEN_EXPIRED"), .unavailable),
        Row("500 REFRESH_TOKEN_INVALID: a server in trouble", .error(500, code: "REFRESH_TOKEN_INVALID"), .unavailable),
        Row("502", .status(502), .unavailable),
        Row("503", .status(503), .unavailable),
        Row("200 with a hotel's page", .text("<html>Welcome</html>", type: "text/html"), .unavailable),
        Row("200 without an access token", .text(#"{"success":true,"data":{}}"#), .unavailable),
        Row(
            "200 with an empty access token", .text(#"{"success":true,"data":{"accessToken":""}}"#), .unavailable),
        Row("200 without success, and MAINTENANCE", .error(200, code: "MAINTENANCE"), .unavailable),
        Row("204", .status(204), .unavailable),
    ]

    @Test("only a no to the refresh token itself ends the session", arguments: rejected + unavailable)
    func verdict(_ row: Row) async throws {
        let transport = StubTransport(.post("auth/refresh") ~> row.answer)
        let handler = RESTTokenRefreshHandler(network: NetworkClient(transport))
        let error = await #expect(throws: TokenRefreshError.self) {
            try await handler.refresh(TokenRefreshRequest(refreshToken: "fixture-refresh"))
        }
        #expect(error?.code == row.verdict)
        #expect(error?.cause is NetworkError)
        #expect(transport.requests.count == 1, "a refresh is never sent twice")
    }

    @Test func theTimeTheServerAsksForReachesTheEngine() async throws {
        let answer = StubAnswer.status(503, headers: ["Retry-After": "11"])
        let handler = RESTTokenRefreshHandler(network: NetworkClient(StubTransport(.any ~> answer)))
        let error = await #expect(throws: TokenRefreshError.self) {
            try await handler.refresh(TokenRefreshRequest(refreshToken: "fixture-refresh"))
        }
        #expect(error?.retryAfter == .seconds(11))
    }

    @Test func anUnknownCodeIsNamedInTheReason() async throws {
        let handler = RESTTokenRefreshHandler(
            network: NetworkClient(StubTransport(.any ~> .error(403, code: "APP_TOO_OLD"))))
        let error = await #expect(throws: TokenRefreshError.self) {
            try await handler.refresh(TokenRefreshRequest(refreshToken: "fixture-refresh"))
        }
        #expect(error?.reason?.contains("APP_TOO_OLD") == true)
        #expect(error?.reason?.contains("the session stays") == true)
    }

    @Test func aServerMayHaveCodesOfItsOwn() async throws {
        var rejection = RESTRejection()
        rejection.refreshTokenCodes.insert("E4711")
        let network = NetworkClient(StubTransport(.any ~> .error(400, code: "E4711")))
        let handler = RESTTokenRefreshHandler(network: network, rejection: rejection)
        let error = await #expect(throws: TokenRefreshError.self) {
            try await handler.refresh(TokenRefreshRequest(refreshToken: "fixture-refresh"))
        }
        #expect(error?.code == .rejected)
    }
}
