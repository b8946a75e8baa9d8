import DevBackend
import Foundation
import ProgramTesting
import Testing

@Suite(.hangLimit) struct ArticleTests {
    @Test(.server) func `pages neither repeat nor skip articles while others are created and deleted`() async throws {
        let token = try await client.signIn().accessToken
        let mine = try await client.create(token).data(Received.Article.self)
        let all = try await client.get("/articles?limit=100", token: token).data(Received.Page.self).items.map(\.id)
        var seen: [Int] = []
        var cursor: String?
        repeat {
            let query = cursor.map { "&cursor=\($0)" } ?? ""
            let page = try await client.get("/articles?limit=5\(query)", token: token).data(Received.Page.self)
            #expect(page.items.count <= 5)
            if seen.isEmpty {
                _ = try await client.create(token, title: "Meanwhile")
                #expect(try await client.send("DELETE", "/articles/\(mine.id)", token: token).status == 204)
            }
            seen += page.items.map(\.id)
            cursor = page.nextCursor
        } while cursor != nil
        #expect(seen == all)
    }

    @Test(.server) func `a user cannot change or delete another user's article`() async throws {
        let article = try await client.create(try await client.signIn().accessToken).data(Received.Article.self)
        let other = try await client.signIn(name: "Eve").accessToken
        let path = "/articles/\(article.id)"
        let change = try await client.send("PATCH", path, token: other, body: Data(#"{"title": "X"}"#.utf8))
        #expect(change.outcome == "403 FORBIDDEN")
        #expect(try await client.send("DELETE", path, token: other).status == 403)
        #expect(try await client.get(path, token: other).data(Received.Article.self) == article)
    }

    @Test(.server) func `an idempotency key creates one article per user`() async throws {
        let token = try await client.signIn().accessToken
        let other = try await client.signIn(name: "Eve").accessToken
        let first = try await client.create(token, key: "k-1")
        let again = try await client.create(token, key: "k-1")
        #expect(first.status == 201)
        #expect(again.status == 200)
        let article = try first.data(Received.Article.self)
        #expect(try again.data(Received.Article.self) == article)
        #expect(try await client.create(other, key: "k-1").status == 201)
        #expect(try await client.create(token, key: "k-2").status == 201)
        #expect(try await client.create(token, title: "Other", key: "k-1").outcome == "422 IDEMPOTENCY_KEY_REUSED")
        #expect(try await client.send("DELETE", "/articles/\(article.id)", token: token).status == 204)
        #expect(
            try await client.create(token, key: "k-1").status == 404,
            "a late retry does not create a deleted article again")
    }

    @Test(.server { $0.limits.eventHeartbeat = .milliseconds(20) })
    func `a stream without events sends comments, and ends with the server`() async throws {
        let token = try await client.signIn().accessToken
        let wrong = try await client.get("/articles/events", token: token, headers: ["Last-Event-ID": "x"])
        #expect(wrong.status == 400 && wrong.fields == ["Last-Event-ID"])
        let stream = try await RawConnection.open(to: backend)
        try await stream.send(
            "GET /api/v1/articles/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\n\r\n")
        #expect(await stream.receive(until: ":\n\n").contains(":\n\n"))
        await backend.stop()
        #expect(await stream.receiveText().contains("0\r\n\r\n"))
    }
}
