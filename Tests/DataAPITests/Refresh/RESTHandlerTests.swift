import AuthInterface
import DataAPI
import NetworkCore
import NetworkTesting
import Testing

@Suite struct RESTHandlerTests {
    @Test func aRefreshSendsTheTokenInTheBodyAndNowhereElse() async throws {
        let answer = StubAnswer.text(
            #"{"success":true,"data":{"accessToken":"fixture-access","refreshToken":"fixture-next","expiresIn":60}}"#)
        let transport = StubTransport(.post("auth/refresh") ~> answer)
        let tokens = try await RESTTokenRefreshHandler(network: NetworkClient(transport))
            .refresh(TokenRefreshRequest(refreshToken: "fixture-refresh"))

        let request = try #require(transport.requests.first)
        #expect(request.json == ["refreshToken": "fixture-refresh"])
        #expect(request.headers["Authorization"] == nil)
        #expect(request.query == nil)
        #expect(
            tokens
                == TokenRefreshResult(
                    accessToken: "fixture-access", refreshToken: "fixture-next", expiresIn: .seconds(60),
                    serverDate: answerDate))
    }

    @Test func aServerThatDoesNotRotateLeavesTheRefreshTokenOut() async throws {
        for data in [#"{"accessToken":"fixture-access"}"#, #"{"accessToken":"fixture-access","refreshToken":""}"#] {
            let transport = StubTransport(.any ~> .text(#"{"success":true,"data":\#(data)}"#))
            let tokens = try await RESTTokenRefreshHandler(network: NetworkClient(transport))
                .refresh(TokenRefreshRequest(refreshToken: "fixture-refresh"))
            #expect(tokens.refreshToken == nil)
        }
    }

    @Test func revocationIsTheServersLogout() async throws {
        let transport = StubTransport(.post("auth/logout") ~> .text(#"{"success":true}"#))
        try await RESTTokenRefreshHandler(network: NetworkClient(transport))
            .revoke(TokenBundle(accessToken: "fixture-access", refreshToken: "fixture-refresh"))
        #expect(transport.requests.first?.json == ["refreshToken": "fixture-refresh"])
        #expect(transport.requests.first?.headers["Authorization"] == nil)
    }

    @Test func aSessionWithoutARefreshTokenCannotBeToldOf() async throws {
        let transport = StubTransport()
        try await RESTTokenRefreshHandler(network: NetworkClient(transport))
            .revoke(TokenBundle(accessToken: "fixture-access", refreshToken: nil))
        #expect(transport.requests.isEmpty)
    }

    @Test func cancellationIsNoVerdict() async throws {
        let handler = RESTTokenRefreshHandler(network: NetworkClient(StubTransport()))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await handler.refresh(TokenRefreshRequest(refreshToken: "fixture-refresh"))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
