import DevBackend
import Foundation
import Testing

@Suite(.hangLimit) struct ArticleTests {
    @Test(.server) func `a new database has a dozen articles, newest first`() async throws {
        let token = try await client.signIn().accessToken
        let page = try await client.get("/articles", token: token).data(Received.Page.self)
        #expect(page.items.count == 12)
        #expect(page.items.map(\.createdAt) == page.items.map(\.createdAt).sorted(by: >))
        #expect(Set(page.items.map(\.author.name)).count == 1)
        #expect(page.nextCursor == nil)
        let first = try #require(page.items.first)
        #expect(try await client.get("/articles/\(first.id)", token: token).data(Received.Article.self) == first)
    }

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

    @Test(.server, arguments: ["limit=0", "limit=101", "limit=x", "cursor=nonsense", "cursor=YXJ0aWNsZTo"])
    func `an invalid query parameter is an invalid field`(query: String) async throws {
        let response = try await client.get("/articles?\(query)", token: try await client.signIn().accessToken)
        #expect(response.status == 400)
        #expect(response.fields == [query.split(separator: "=").first.map(String.init)])
    }

    @Test(.server) func `an author can change and delete their articles`() async throws {
        let signedIn = try await client.signIn()
        let token = signedIn.accessToken
        let created = try await client.create(token)
        #expect(created.status == 201)
        let article = try created.data(Received.Article.self)
        #expect(created.header("Location") == "/api/v1/articles/\(article.id)")
        #expect(article.author == .init(id: signedIn.user.id, name: "Ada"))
        let path = "/articles/\(article.id)"
        let changed = try await client.send("PATCH", path, token: token, body: Data(#"{"title": "New"}"#.utf8))
        #expect(try changed.data(Received.Article.self).title == "New")
        #expect(try changed.data(Received.Article.self).content == "Body")
        let deleted = try await client.send("DELETE", path, token: token)
        #expect(deleted.status == 204)
        #expect(deleted.data.isEmpty)
        #expect(try await client.get(path, token: token).code == "NOT_FOUND")
        #expect(try await client.send("DELETE", path, token: token).status == 404)
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

    @Test(.server) func `the response to an invalid article names each invalid field`() async throws {
        let token = try await client.signIn().accessToken
        for (json, fields) in [
            (#"{"title": "", "content": ""}"#, ["title", "content"]), (#"{"title": 7, "content": "x"}"#, ["title"]),
            (#"{"title": "x"}"#, ["content"]),
        ] {
            #expect(try await client.post("/articles", json: json, token: token).fields == fields)
        }
    }
}
