import AuthInterface
import DataAPI
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct RESTHandlerTests {
    private func tokens(_ members: String) async throws -> TokenRefreshResult {
        let response = StubResponse.text(#"{"success":true,"data":{\#(members)}}"#)
        return try await RESTTokenRefreshHandler(network: NetworkClient(StubTransport(.any ~> response)))
            .refresh(.fixture)
    }

    /// Members of responses, and the tokens that are read.
    static let members: [(text: String, accessToken: String, refreshToken: String?)] = [
        // A server that does not rotate.
        (#""accessToken":"fixture-access""#, "fixture-access", nil),
        (#""accessToken":"fixture-access","refreshToken":"""#, "fixture-access", nil),
        // An access token that cannot be used.
        (#""accessToken":"","refreshToken":"fixture-next""#, "", "fixture-next"),
        (#""accessToken":null,"refreshToken":"fixture-next""#, "", "fixture-next"),
        (#""accessToken":7,"refreshToken":"fixture-next""#, "", "fixture-next"),
        (#""refreshToken":"fixture-next""#, "", "fixture-next"),
    ]

    @Test func `one of the tokens is enough, and what is no token is none`() async throws {
        for (text, accessToken, refreshToken) in Self.members {
            let tokens = try await tokens(text)
            #expect(tokens.accessToken == accessToken && tokens.refreshToken == refreshToken, "\(text)")
        }
    }

    static let expiries: [(String, Date?)] = [
        (#""2030-01-02T03:04:05Z""#, Date(timeIntervalSince1970: 1_893_553_445)),
        (#""2030-01-02T03:04:05.500Z""#, Date(timeIntervalSince1970: 1_893_553_445.5)),
        (#""2030-01-02T04:04:05+01:00""#, Date(timeIntervalSince1970: 1_893_553_445)),
        ("1893553445", Date(timeIntervalSince1970: 1_893_553_445)),
        ("1893553445500", Date(timeIntervalSince1970: 1_893_553_445.5)),
        (#""1893553445""#, Date(timeIntervalSince1970: 1_893_553_445)),
        ("813456000", Date(timeIntervalSinceReferenceDate: 813_456_000)),
        ("813456000.25", Date(timeIntervalSinceReferenceDate: 813_456_000.25)),
        ("0", nil), ("-1", nil), ("60", nil), ("null", nil), ("[]", nil), (#""tomorrow""#, nil), ("1e300", nil),
    ]

    @Test(arguments: expiries)
    func `an absolute expiry is read in every common form, and an invalid one is ignored`(
        _ text: String, _ expected: Date?
    ) async throws {
        let tokens = try await tokens(#""accessToken":"fixture-access","expiresAt":\#(text),"expiresIn":null"#)
        #expect(tokens.expiresAt == expected)
        #expect(tokens.expiresIn == nil && tokens.serverDate == StubResponse.date)
    }

    @Test(arguments: ["60", #""tomorrow""#, #""fixture-access""#, "1e300"])
    func `an expiry that cannot be placed is reported, and no token with it`(_ text: String) async throws {
        let access = #""accessToken":"fixture-access""#
        let unread = try await tokens(#"\#(access),"expiresAt":\#(text)"#)
        #expect(unread.expiresAt == nil && unread.unreadExpiry != nil)
        #expect(unread.unreadExpiry?.contains("fixture") == false)
        let both = try await tokens(#"\#(access),"expiresAt":\#(text),"expiresIn":60"#)
        #expect(both.unreadExpiry == nil, "the lifetime counts")
        #expect(try await tokens(#"\#(access),"expiresIn":60"#).unreadExpiry == nil)
    }

    @Test func `a cancelled refresh throws CancellationError`() async throws {
        let handler = RESTTokenRefreshHandler(network: NetworkClient(StubTransport()))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await handler.refresh(.fixture)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `a session without a refresh token is not revoked`() async throws {
        let transport = StubTransport()
        try await RESTTokenRefreshHandler(network: NetworkClient(transport))
            .revoke(TokenBundle(accessToken: "fixture-access", refreshToken: nil))
        #expect(transport.requests.isEmpty)
    }
}

/// Calls and responses about tokens as servers print them.
@Suite struct TokenDialectTests {
    private static let instant = Date(timeIntervalSinceReferenceDate: 813_456_000)

    struct Server: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var dialect = RESTTokenDialect.standard
        var placement = RefreshAccessTokenPlacement.omitted
        var refreshTokenField: String?
        var call = ["refresh_token": "fixture-refresh"]
        var fields: [String: String] = [:]
        var response = #"{"accessToken":"fixture-access-2","refreshToken":"fixture-refresh-2"}"#
        var expiresIn: Duration?
        var expiresAt: Date?
    }

    private static func with(_ dates: TokenDates) -> RESTTokenDialect {
        var dialect = RESTTokenDialect.snakeCase
        dialect.dates = dates
        return dialect
    }

    private static func dated(_ text: String) -> String {
        #"{"accessToken":"fixture-access-2","refreshToken":"fixture-refresh-2","expiresAt":\#(text)}"#
    }

    private static func dated(_ text: String, in name: String, _ dialect: RESTTokenDialect) -> Server {
        Server(testDescription: name, dialect: dialect, response: dated(text), expiresAt: instant)
    }

    static let servers: [Server] = [
        dated("813456000", in: "snake case, camel case and seconds since 2001 in the response", .snakeCase),
        dated("813456000", in: "the same, said for certain", with(.secondsSince2001)),
        dated("1791763200", in: "seconds since 1970", with(.secondsSince1970)),
        dated("1791763200000", in: "milliseconds since 1970", with(.millisecondsSince1970)),
        dated(#""2026-10-12T00:00:00Z""#, in: "ISO 8601", with(.iso8601)),
        Server(testDescription: "camel case, plain", call: ["refreshToken": "fixture-refresh"]),
        Server(
            testDescription: "camel case in an envelope", call: ["refreshToken": "fixture-refresh"],
            response: """
                {"success":true,"code":"OK","message":"","data":{"accessToken":"fixture-access-2",
                "refreshToken":"fixture-refresh-2","expiresIn":60},"meta":{"requestId":"r-1","durationMs":3}}
                """, expiresIn: .seconds(60)),
        Server(
            testDescription: "flat beside a flag", call: ["refreshToken": "fixture-refresh"],
            response: #"{"success":true,"accessToken":"fixture-access-2","refreshToken":"fixture-refresh-2"}"#),
        Server(
            testDescription: "flat beside other data", call: ["refreshToken": "fixture-refresh"],
            response: #"{"data":{"id":1},"accessToken":"fixture-access-2","refreshToken":"fixture-refresh-2"}"#),
        Server(
            testDescription: "snake case in the response too", dialect: .snakeCase,
            response: #"{"access_token":"fixture-access-2","refresh_token":"fixture-refresh-2"}"#),
        Server(
            testDescription: "both tokens in the body", dialect: .snakeCase, placement: .body,
            call: ["refresh_token": "fixture-refresh", "access_token": "fixture-access"]),
        Server(
            testDescription: "the access token as a bearer token", placement: .bearer,
            call: ["refreshToken": "fixture-refresh"], fields: ["Authorization": "Bearer fixture-access"]),
        Server(
            testDescription: "both tokens in header fields", placement: .field("accessToken"),
            refreshTokenField: "refreshToken", call: [:],
            fields: ["accessToken": "fixture-access", "refreshToken": "fixture-refresh"]),
    ]

    @Test(arguments: servers)
    func `a refresh is written and read as the server prints it`(_ server: Server) async throws {
        let transport = StubTransport(.post("auth/refresh") ~> .text(server.response))
        let handler = RESTTokenRefreshHandler(
            network: NetworkClient(transport), dialect: server.dialect, accessToken: server.placement,
            refreshTokenField: server.refreshTokenField)
        let tokens = try await handler.refresh(
            TokenRefreshRequest(refreshToken: "fixture-refresh", accessToken: "fixture-access"))
        let sent = try #require(transport.requests.first)
        #expect(sent.json == server.call && sent.query == nil)
        for name in ["Authorization", "accessToken", "refreshToken"] {
            #expect(sent.headers[name] == server.fields[name])
        }
        #expect(
            tokens
                == TokenRefreshResult(
                    accessToken: "fixture-access-2", refreshToken: "fixture-refresh-2", expiresIn: server.expiresIn,
                    expiresAt: server.expiresAt, serverDate: StubResponse.date))
    }

    @Test func `an instant that the dialect does not read is reported`() async throws {
        let transport = StubTransport(.any ~> .text(Self.dated("1791763200")))
        let tokens = try await RESTTokenRefreshHandler(
            network: NetworkClient(transport), dialect: Self.with(.iso8601)
        ).refresh(.fixture)
        #expect(tokens.expiresAt == nil && tokens.unreadExpiry?.hasPrefix("1791763200") == true)
    }

    @Test(arguments: [true, false])
    func `paths and the logout follow the dialect`(_ isStandard: Bool) async throws {
        var dialect = isStandard ? RESTTokenDialect.standard : .snakeCase
        if !isStandard { (dialect.refreshPath, dialect.logoutPath) = ("token/renew", "token/end") }
        let transport = StubTransport(
            .post(isStandard ? "auth/refresh" : "token/renew") ~> .text(#"{"access_token":"fixture-access-2"}"#),
            .post(isStandard ? "auth/logout" : "token/end") ~> .status(204))
        let handler = RESTTokenRefreshHandler(network: NetworkClient(transport), dialect: dialect)
        _ = try await handler.refresh(.fixture)
        try await handler.revoke(TokenBundle(accessToken: "fixture-access", refreshToken: "fixture-refresh"))
        let call = [isStandard ? "refreshToken" : "refresh_token": "fixture-refresh"]
        #expect(transport.requests.map(\.json) == [call, call])
        #expect(transport.requests.allSatisfy { $0.headers["Authorization"] == nil })
    }
}
