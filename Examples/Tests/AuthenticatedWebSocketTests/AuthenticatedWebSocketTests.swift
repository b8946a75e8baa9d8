import AuthInterface
import AuthTesting
import AuthenticatedWebSocket
import Storage
import Testing
import TokenRefresh

@Suite(.timeLimit(.minutes(20))) struct AuthenticatedWebSocketTests {
    private let handler = ScriptedRefreshHandler()

    /// The texts that a client receives, from a server with a script.
    private func texts(
        _ script: @escaping @Sendable (_ authorization: String?) -> SocketServer.Action
    ) async throws -> [String] {
        try await SocketServer.run(script) { server in
            let engine = TokenRefreshCoordinator(store: MemoryTokenStore(), handler: handler)
            try await engine.signIn(.fixture())
            let socket = AuthenticatedWebSocket(host: "127.0.0.1", port: server.port, path: "/feed", engine)
            var texts: [String] = []
            try await socket.receive { texts.append($0) }
            return texts
        }
    }

    @Test(arguments: [SocketServer.Action.send(["first"], then: 4_401), .refuse(401)])
    func `a connection whose token has expired is opened again with another`(end: SocketServer.Action) async throws {
        let texts = try await texts { authorization in
            authorization == "Bearer access-ada1-0" ? end : .send([authorization ?? "none"], then: 1_000)
        }
        #expect(texts.last == "Bearer access-ada1-1")
        #expect(handler.calls.count == 1)
    }

    @Test func `a server that refuses every token gets no further refresh`() async throws {
        let error = await #expect(throws: AuthenticationError.self) { try await texts { _ in .refuse(401) } }
        #expect(error?.code == .unauthorized)
        #expect(handler.calls.count == 1)
    }

    @Test(arguments: [SocketServer.Action.send([], then: 1_011), .send([], then: nil), .refuse(503)])
    func `another end of the connection refreshes nothing`(end: SocketServer.Action) async throws {
        await #expect(throws: AuthenticatedWebSocket.ConnectionLost.self) { try await texts { _ in end } }
        #expect(handler.calls.isEmpty)
    }
}
