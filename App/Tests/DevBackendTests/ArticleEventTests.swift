import DevBackend
import Foundation
import ProgramTesting
import Testing

/// `GET /articles/events`.
@Suite(.hangLimit) struct ArticleEventTests {
    private func open(_ client: TestClient, _ token: String, after id: String? = nil) async throws -> RawConnection {
        let connection = try await RawConnection.open(port: #require(client.base.port))
        let field = id.map { "Last-Event-ID: \($0)\r\n" } ?? ""
        try await connection.send(
            "GET /api/v1/articles/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\n\(field)\r\n")
        return connection
    }

    // Without comments, so that only events are received.
    @Test(.server { $0.limits.eventHeartbeat = .seconds(3600) })
    func `every change is an event, in order`() async throws {
        let token = try await client.signIn().accessToken
        let stream = try await open(client, token)
        let head = await stream.receive(until: "retry: 1000\n\n")
        #expect(head.contains("Content-Type: text/event-stream\r\n") && head.contains("id: 0\n"))
        let id = try await client.create(token).data(Received.Article.self).id
        #expect(await stream.receive(until: "}\n\n").contains("id: 1\nevent: created\ndata: {\"id\":\(id)}\n\n"))
        _ = try await client.send(
            "PATCH", "/articles/\(id)", token: token, headers: ["Content-Type": "application/json"],
            body: Data(#"{"title": "C"}"#.utf8))
        #expect(await stream.receive(until: "}\n\n").contains("id: 2\nevent: changed\ndata: {\"id\":\(id)}\n\n"))
        _ = try await client.send("DELETE", "/articles/\(id)", token: token)
        #expect(await stream.receive(until: "}\n\n").contains("id: 3\nevent: deleted\ndata: {\"id\":\(id)}\n\n"))
        try await stream.close()
    }

    @Test func `a stream resumes after the last event, over a restart too`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let database = DevBackend.DatabaseLocation.file(folder.url.appendingPathComponent("db").path)
        let session = try await TestClient.withServer({ $0.database = database }) { client in
            let session = try await client.signIn()
            for _ in 0..<150 { _ = try await client.create(session.accessToken) }
            return session
        }
        try await TestClient.withServer({ $0.database = database }) { client in
            let stream = try await open(client, session.accessToken, after: "20")
            let events = await stream.receive(until: "id: 150\nevent: created\n")
            for id in 21...150 { #expect(events.contains("id: \(id)\nevent: created\n")) }
            #expect(!events.contains("id: 19\n"))
            try await stream.close()
        }
    }

    @Test(.server { $0.limits.eventHeartbeat = .seconds(3600) })
    func `an expired token ends the stream, and a new one resumes it without a gap`() async throws {
        let session = try await client.signIn()
        let stream = try await open(client, session.accessToken)
        _ = await stream.receive(until: "retry: 1000\n\n")
        try await backend.expireAccessTokens()
        // The last chunk of the response.
        _ = await stream.receive(until: "0\r\n\r\n")
        #expect(try await client.get("/articles/events", token: session.accessToken).status == 401)
        let tokens = try await client.rotate(session.refreshToken)
        _ = try await client.create(tokens.accessToken)
        let resumed = try await open(client, tokens.accessToken, after: "0")
        #expect(await resumed.receive(until: "}\n\n").contains("id: 1\nevent: created\n"))
        try await resumed.close()
    }

    @Test(.server { $0.limits.eventHeartbeat = .milliseconds(20) })
    func `a stream without events sends comments, and ends with the server`() async throws {
        let session = try await client.signIn()
        let headers = ["Last-Event-ID": "x"]
        let wrong = try await client.get("/articles/events", token: session.accessToken, headers: headers)
        #expect(wrong.status == 400 && wrong.fields == ["Last-Event-ID"])
        let stream = try await open(client, session.accessToken)
        #expect(await stream.receive(until: ":\n\n").contains(":\n\n"))
        await backend.stop()
        #expect(await stream.receiveText().contains("0\r\n\r\n"))
    }
}
