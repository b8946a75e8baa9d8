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
        var call = ["refresh_token": "fixture-refresh"]
        var fields: [String: String] = [:]
        var response = #"{"accessToken":"fixture-access-2","refreshToken":"fixture-refresh-2"}"#
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
                "refreshToken":"fixture-refresh-2"},"meta":{"requestId":"r-1","durationMs":3}}
                """),
        Server(
            testDescription: "snake case in the response too", dialect: .snakeCase,
            response: #"{"access_token":"fixture-access-2","refresh_token":"fixture-refresh-2"}"#),
        Server(
            testDescription: "both tokens in the body", dialect: .snakeCase, placement: .body,
            call: ["refresh_token": "fixture-refresh", "access_token": "fixture-access"]),
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
