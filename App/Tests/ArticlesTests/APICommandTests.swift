import DevBackend
import Foundation
import ProgramTesting
import Testing

/// Requests of the user's own with the session's token.
@Suite(.home, .timeLimit(.minutes(20))) struct APICommandTests {
    private func api(_ arguments: String...) async throws -> SpawnedProgram.Result {
        try await home.run(["api"] + arguments + base)
    }

    @Test(.signedIn) func `a request has the session's token, which is refreshed when it has expired`() async throws {
        try await backend.expireAccessTokens()
        let created = try await api("POST", "articles", "--field", "title=A=B", "--field", "content=text")
        #expect(created.status == 0, "\(created.errors)")
        #expect(try created.json("data", "title") as? String == "A=B")
        #expect(backend.statistics.refreshes.committed == 1)
        let file = try home.file("change.json", Data(#"{"title":"C"}"#.utf8))
        let id = try #require(try created.json("data", "id"))
        let changed = try await api("patch", "/articles/\(id)", "--input", file)
        #expect(try changed.json("data", "title") as? String == "C", "\(changed.errors)")
    }

    @Test(.signedIn)
    func `fields are the query or JSON values, and the body of an error response is printed`() async throws {
        let page = try await api("GET", "articles?limit=99", "--field", "limit=5")
        #expect((try page.json("data", "items") as? [Any])?.count == 5)
        let number = try await api("POST", "articles", "--field", "title=7", "--field", "content=007")
        #expect(number.status == 1 && number.output.contains(#""field":"title""#), "\(number.output)")
        #expect(!number.output.contains(#""field":"content""#))
        let run = try await api("GET", "articles/9999")
        run.expectError(1, "articles: ")
        #expect(try run.json("code") as? String == "NOT_FOUND")
    }

    @Test(.signedIn) func `the token is not sent to another host`() async throws {
        try await DevBackend.withServer { other in
            let origin = "http://127.0.0.1:\(try #require(other.baseURL.port))"
            for path in [
                "\(origin)/api/v1/articles", origin.uppercased(), "https://127.0.0.1/", "http://a@127.0.0.1",
            ] {
                let run = try await api("GET", path)
                #expect(run.status == 64, "\(path): \(run.allOutput)")
            }
            let below = try await api("GET", "//127.0.0.1:\(try #require(other.baseURL.port))/articles")
            #expect(below.status == 1)
            backend.faults = FaultPlan([
                FaultRule("GET", "/articles", .redirect(to: other.baseURL.appending(path: "articles"), status: 307))
            ])
            _ = try await api("GET", "articles")
            #expect(other.journal.allSatisfy { $0.credentialFields.isEmpty })
        }
    }

    @Test(arguments: [
        ["G T", "articles"], ["GET", "articles", "--field", "title"],
        ["GET", "articles", "--header", "Authorization: Bearer fixture"], ["GET", "articles", "--header", "none"],
        ["GET", "articles", "--header", "X-A: a\nX-B: b"], ["GET", "articles#top"],
        ["GET", "articles", "--input", "-"],
        ["POST", "articles", "--field", "a=b", "--input", "-"],
    ])
    func `an unusable argument is an error before anything is sent`(_ arguments: [String]) async throws {
        try await home.run(["api"] + arguments).expectError(64, "see 'articles")
    }
}
