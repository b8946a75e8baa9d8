import AuthInterface
import DataAPI
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import Testing

/// Calls and responses about tokens as servers print them.
@Suite struct TokenDialectTests {
    private static let instant = Date(timeIntervalSinceReferenceDate: 813_456_000)

    struct Server: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var dialect = RESTTokenDialect.standard
        var placement = RefreshAccessTokenPlacement.omitted
        var refreshTokenField: String?
        let call: [String: String]
        var fields: [String: String] = [:]
        let response: String
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

    static let servers: [Server] = [
        Server(
            testDescription: "snake case in the call, camel case and seconds since 2001 in the response",
            dialect: .snakeCase, call: ["refresh_token": "fixture-refresh"], response: dated("813456000"),
            expiresAt: instant),
        Server(
            testDescription: "the same, said for certain", dialect: with(.secondsSince2001),
            call: ["refresh_token": "fixture-refresh"], response: dated("813456000"), expiresAt: instant),
        Server(
            testDescription: "seconds since 1970", dialect: with(.secondsSince1970),
            call: ["refresh_token": "fixture-refresh"], response: dated("1791763200"), expiresAt: instant),
        Server(
            testDescription: "milliseconds since 1970", dialect: with(.millisecondsSince1970),
            call: ["refresh_token": "fixture-refresh"], response: dated("1791763200000"), expiresAt: instant),
        Server(
            testDescription: "ISO 8601", dialect: with(.iso8601), call: ["refresh_token": "fixture-refresh"],
            response: dated(#""2026-10-12T00:00:00Z""#), expiresAt: instant),
        Server(
            testDescription: "camel case, plain", call: ["refreshToken": "fixture-refresh"],
            response: #"{"accessToken":"fixture-access-2","refreshToken":"fixture-refresh-2"}"#),
        Server(
            testDescription: "camel case in an envelope", call: ["refreshToken": "fixture-refresh"],
            response: """
                {"success":true,"code":"OK","message":"","data":{"accessToken":"fixture-access-2",
                "refreshToken":"fixture-refresh-2"},"meta":{"requestId":"r-1","durationMs":3}}
                """),
        Server(
            testDescription: "snake case in the response too", dialect: .snakeCase,
            call: ["refresh_token": "fixture-refresh"],
            response: #"{"access_token":"fixture-access-2","refresh_token":"fixture-refresh-2"}"#),
        Server(
            testDescription: "both tokens in the body", dialect: .snakeCase, placement: .body,
            call: ["refresh_token": "fixture-refresh", "access_token": "fixture-access"],
            response: #"{"accessToken":"fixture-access-2","refreshToken":"fixture-refresh-2"}"#),
        Server(
            testDescription: "both tokens in header fields", placement: .field("accessToken"),
            refreshTokenField: "refreshToken", call: [:],
            fields: ["accessToken": "fixture-access", "refreshToken": "fixture-refresh"],
            response: #"{"accessToken":"fixture-access-2","refreshToken":"fixture-refresh-2"}"#),
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
        #expect(sent.json == server.call)
        for name in ["accessToken", "refreshToken"] { #expect(sent.headers[name] == server.fields[name]) }
        #expect(tokens.accessToken == "fixture-access-2" && tokens.refreshToken == "fixture-refresh-2")
        #expect(tokens.expiresAt == server.expiresAt && tokens.unreadExpiry == nil)
    }

    @Test func `an instant that the dialect does not read is reported`() async throws {
        let transport = StubTransport(.any ~> .text(Self.dated("1791763200")))
        let tokens = try await RESTTokenRefreshHandler(
            network: NetworkClient(transport), dialect: Self.with(.iso8601)
        ).refresh(.fixture)
        #expect(tokens.expiresAt == nil && tokens.unreadExpiry?.hasPrefix("1791763200") == true)
    }

    @Test func `a failure in an envelope is no plain response`() async throws {
        let error = await VerdictTests.error(after: .error(200, code: "REFRESH_TOKEN_EXPIRED"))
        #expect(error?.code == .rejected)
    }

    @Test func `paths and the logout follow the dialect`() async throws {
        var dialect = RESTTokenDialect.snakeCase
        (dialect.refreshPath, dialect.logoutPath) = ("token/renew", "token/end")
        let transport = StubTransport(
            .post("token/renew") ~> .text(#"{"access_token":"fixture-access-2"}"#), .post("token/end") ~> .status(204))
        let handler = RESTTokenRefreshHandler(network: NetworkClient(transport), dialect: dialect)
        _ = try await handler.refresh(.fixture)
        try await handler.revoke(TokenBundle(accessToken: "fixture-access", refreshToken: "fixture-refresh"))
        #expect(transport.requests.map(\.json) == Array(repeating: ["refresh_token": "fixture-refresh"], count: 2))
    }
}
