import AuthInterface
import DataAPI
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct RESTHandlerTests {
    private func tokens(after response: StubResponse) async throws -> TokenRefreshResult {
        try await RESTTokenRefreshHandler(network: NetworkClient(StubTransport(.any ~> response)))
            .refresh(.fixture)
    }

    @Test func `a refresh sends the token in the body and nowhere else`() async throws {
        let response = StubResponse.text(
            #"{"success":true,"data":{"accessToken":"fixture-access","refreshToken":"fixture-next","expiresIn":60}}"#)
        let transport = StubTransport(.post("auth/refresh") ~> response)
        let tokens = try await RESTTokenRefreshHandler(network: NetworkClient(transport))
            .refresh(.fixture)

        let request = try #require(transport.requests.first)
        #expect(request.json == ["refreshToken": "fixture-refresh"])
        #expect(request.headers["Authorization"] == nil)
        #expect(request.query == nil)
        #expect(
            tokens
                == TokenRefreshResult(
                    accessToken: "fixture-access", refreshToken: "fixture-next", expiresIn: .seconds(60),
                    serverDate: StubResponse.date))
    }

    @Test(arguments: ["", #","refreshToken":"""#])
    func `a response of a server that does not rotate has no refresh token`(_ member: String) async throws {
        let body = #"{"success":true,"data":{"accessToken":"fixture-access"\#(member)}}"#
        #expect(try await tokens(after: .text(body)).refreshToken == nil)
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
        let response = StubResponse.text(
            #"{"success":true,"data":{"accessToken":"fixture-access","expiresAt":\#(text),"expiresIn":null}}"#)
        let tokens = try await tokens(after: response)
        #expect(tokens.expiresAt == expected)
        #expect(tokens.expiresIn == nil && tokens.serverDate == StubResponse.date)
    }

    @Test(arguments: ["60", #""tomorrow""#, #""fixture-access""#, "1e300"])
    func `an expiry that cannot be placed is reported, and no token with it`(_ text: String) async throws {
        func tokens(_ members: String) async throws -> TokenRefreshResult {
            try await self.tokens(
                after: .text(#"{"success":true,"data":{"accessToken":"fixture-access",\#(members)}}"#))
        }
        let unread = try await tokens(#""expiresAt":\#(text)"#)
        #expect(unread.expiresAt == nil && unread.unreadExpiry != nil)
        #expect(unread.unreadExpiry?.contains("fixture") == false)
        #expect(try await tokens(#""expiresAt":\#(text),"expiresIn":60"#).unreadExpiry == nil, "the lifetime counts")
        #expect(try await tokens(#""expiresIn":60"#).unreadExpiry == nil)
    }

    @Test func `a new refresh token is kept beside an access token that cannot be used`() async throws {
        for access in [#""accessToken":"","#, #""accessToken":null,"#, #""accessToken":7,"#, ""] {
            let response = StubResponse.text(#"{"success":true,"data":{\#(access)"refreshToken":"fixture-next"}}"#)
            let tokens = try await tokens(after: response)
            #expect(tokens.accessToken.isEmpty && tokens.refreshToken == "fixture-next")
        }
    }

    @Test func `a revocation calls the server's logout`() async throws {
        let transport = StubTransport(.post("auth/logout") ~> .text(#"{"success":true}"#))
        try await RESTTokenRefreshHandler(network: NetworkClient(transport))
            .revoke(TokenBundle(accessToken: "fixture-access", refreshToken: "fixture-refresh"))
        #expect(transport.requests.first?.json == ["refreshToken": "fixture-refresh"])
        #expect(transport.requests.first?.headers["Authorization"] == nil)
    }

    @Test func `a session without a refresh token is not revoked`() async throws {
        let transport = StubTransport()
        try await RESTTokenRefreshHandler(network: NetworkClient(transport))
            .revoke(TokenBundle(accessToken: "fixture-access", refreshToken: nil))
        #expect(transport.requests.isEmpty)
    }

    @Test func `a cancelled refresh throws CancellationError`() async throws {
        let handler = RESTTokenRefreshHandler(network: NetworkClient(StubTransport()))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await handler.refresh(.fixture)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
