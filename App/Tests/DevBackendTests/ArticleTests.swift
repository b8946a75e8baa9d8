import DevBackend
import Foundation
import Testing

@Suite(.untilStuck) struct ArticleTests {
    private func create(
        _ client: TestClient, _ token: String, title: String = "Title", key: String? = nil
    ) async throws -> ReceivedResponse {
        let headers = key.map { ["Idempotency-Key": $0] } ?? [:]
        return try await client.post(
            "/articles", json: #"{"title": "\#(title)", "body": "Body"}"#, token: token, headers: headers)
    }

    @Test func aNewDatabaseHasADozenArticlesNewestFirst() async throws {
        try await DevBackend.withServer { backend in
            let client = TestClient(backend)
            let token = try await client.signIn().accessToken
            let page = try await client.get("/articles", token: token).data(ReceivedPage.self)
            #expect(page.items.count == 12)
            #expect(page.items.map(\.createdAt) == page.items.map(\.createdAt).sorted(by: >))
            #expect(Set(page.items.map(\.author.name)).count == 1)
            #expect(page.nextCursor == nil)
            let first = try page.items.first.required("an article")
            #expect(try await client.get("/articles/\(first.id)", token: token).data(ReceivedArticle.self) == first)
        }
    }

    @Test func pagesNeitherRepeatNorSkipWhileArticlesComeAndGo() async throws {
        try await DevBackend.withServer { backend in
            let client = TestClient(backend)
            let token = try await client.signIn().accessToken
            let mine = try await create(client, token).data(ReceivedArticle.self)
            let all = try await client.get("/articles?limit=100", token: token).data(ReceivedPage.self).items.map(\.id)
            var seen: [Int] = []
            var cursor: String?
            repeat {
                let query = cursor.map { "&cursor=\($0)" } ?? ""
                let page = try await client.get("/articles?limit=5\(query)", token: token).data(ReceivedPage.self)
                #expect(page.items.count <= 5)
                if seen.isEmpty {
                    _ = try await create(client, token, title: "Meanwhile")
                    #expect(try await client.send("DELETE", "/articles/\(mine.id)", token: token).status == 204)
                }
                seen += page.items.map(\.id)
                cursor = page.nextCursor
            } while cursor != nil
            #expect(seen == all)
        }
    }

    @Test(arguments: ["limit=0", "limit=101", "limit=x", "cursor=nonsense", "cursor=YXJ0aWNsZTo"])
    func aQueryThatCannotBeMeantIsAnInvalidField(query: String) async throws {
        try await DevBackend.withServer { backend in
            let client = TestClient(backend)
            let answer = try await client.get("/articles?\(query)", token: try await client.signIn().accessToken)
            #expect(answer.status == 400)
            #expect(answer.fields == [query.split(separator: "=").first.map(String.init)])
        }
    }

    @Test func anAuthorChangesAndDeletesTheirOwn() async throws {
        try await DevBackend.withServer { backend in
            let client = TestClient(backend)
            let signedIn = try await client.signIn()
            let token = signedIn.accessToken
            let created = try await create(client, token)
            #expect(created.status == 201)
            let article = try created.data(ReceivedArticle.self)
            #expect(created.header("Location") == "/api/v1/articles/\(article.id)")
            #expect(article.author == .init(id: signedIn.user.id, name: "Ada"))

            let path = "/articles/\(article.id)"
            let changed = try await client.send("PATCH", path, token: token, body: Data(#"{"title": "New"}"#.utf8))
            #expect(try changed.data(ReceivedArticle.self).title == "New")
            #expect(try changed.data(ReceivedArticle.self).body == "Body")

            let deleted = try await client.send("DELETE", path, token: token)
            #expect(deleted.status == 204)
            #expect(deleted.data.isEmpty)
            #expect(try await client.get(path, token: token).code == "NOT_FOUND")
            #expect(try await client.send("DELETE", path, token: token).status == 404)
        }
    }

    @Test func nobodyChangesOrDeletesAnothersArticle() async throws {
        try await DevBackend.withServer { backend in
            let client = TestClient(backend)
            let article = try await create(client, try await client.signIn().accessToken).data(ReceivedArticle.self)
            let stranger = try await client.signIn(name: "Eve").accessToken
            let path = "/articles/\(article.id)"
            let change = try await client.send("PATCH", path, token: stranger, body: Data(#"{"title": "X"}"#.utf8))
            #expect(change.status == 403)
            #expect(change.code == "FORBIDDEN")
            #expect(try await client.send("DELETE", path, token: stranger).status == 403)
            #expect(try await client.get(path, token: stranger).data(ReceivedArticle.self) == article)
        }
    }

    @Test func anIdempotencyKeyCreatesOneArticlePerUser() async throws {
        try await DevBackend.withServer { backend in
            let client = TestClient(backend)
            let token = try await client.signIn().accessToken
            let stranger = try await client.signIn(name: "Eve").accessToken
            let first = try await create(client, token, key: "k-1")
            let again = try await create(client, token, key: "k-1")
            #expect(first.status == 201)
            #expect(again.status == 200)
            let article = try first.data(ReceivedArticle.self)
            #expect(try again.data(ReceivedArticle.self) == article)
            #expect(try await create(client, stranger, key: "k-1").status == 201)
            #expect(try await create(client, token, key: "k-2").status == 201)

            let other = try await create(client, token, title: "Other", key: "k-1")
            #expect(other.status == 422)
            #expect(other.code == "IDEMPOTENCY_KEY_REUSED")

            #expect(try await client.send("DELETE", "/articles/\(article.id)", token: token).status == 204)
            #expect(try await create(client, token, key: "k-1").status == 404, "a late retry revives nothing")
        }
    }

    @Test func anInvalidArticleIsRefusedFieldByField() async throws {
        try await DevBackend.withServer { backend in
            let client = TestClient(backend)
            let token = try await client.signIn().accessToken
            let empty = try await client.post("/articles", json: #"{"title": "", "body": ""}"#, token: token)
            #expect(empty.fields == ["title", "body"])
            let wrong = try await client.post("/articles", json: #"{"title": 7, "body": "x"}"#, token: token)
            #expect(wrong.fields == ["title"])
            let missing = try await client.post("/articles", json: #"{"title": "x"}"#, token: token)
            #expect(missing.fields == ["body"])
        }
    }
}
