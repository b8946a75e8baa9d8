import DevBackend
import Foundation
import ProgramTesting
import Testing

/// What other programs read: tables in a pipe, and selected fields.
@Suite(.home) struct TableTests {
    @Test(.signedIn) func `a table in a pipe has a tab between cells and no heading`() async throws {
        let title = "one\ttwo\u{1B}[31mthree\nfour"
        #expect(try await home.run(["create", "--title", title, "--body", "b"] + base).status == 0)
        let run = try await home.run(["list", "--limit", "2"] + base)
        let rows = run.outputLines.map { $0.split(separator: "\t") }
        #expect(rows.map(\.count) == [4, 4], "\(run.output)")
        #expect(rows[0][1] == "one two [31mthree four" && rows[0][2] == "Ada")
        #expect(run.errors.hasPrefix("2 articles, and more follow"))

        let names = try await home.run(["status"] + base).outputLines.map { $0.prefix { $0 != "\t" } }
        #expect(names == ["server", "store", "state", "token"])
    }

    @Test(.signedIn) func `--json with names prints these fields only`() async throws {
        let listed = try await home.run(["list", "--limit", "2", "--json", "id,title"] + base).object()
        let articles = try #require(listed["articles"] as? [[String: Any]])
        #expect(articles.map { Set($0.keys) } == [["id", "title"], ["id", "title"]])
        #expect(listed["nextCursor"] is String)
        let id = try #require(articles[0]["id"] as? String)
        for arguments in [["show", id, "--json=title"], ["show", "--json=title", id]] {
            let shown = try await home.run(arguments + base).json("article") as? [String: Any]
            #expect(shown.map { Array($0.keys) } == ["title"])
        }
        #expect(try await home.run(["show", "--json", id] + base).json("article", "content") is String)
        let status = try await home.run(["status", "--json", "state,lastEnding"] + base).object()
        #expect(status["state"] as? String == "signedIn" && status["lastEnding"] is NSNull && status.count == 2)
        try await home.run(["logout", "--json", "state"]).expectError(64, "use --json without fields")
    }

    @Test(.server, arguments: ["id,titel", "id,,title", ","])
    func `an unknown field is an error before anything is sent`(_ fields: String) async throws {
        let run = try await home.run(
            ["create", "--title", "a", "--body", "b", "--base-url", "\(backend.baseURL)", "--json=\(fields)"])
        run.expectError(
            64, "; the fields are id, title, content, author, createdAt, updatedAt; see 'articles")
        #expect(backend.statistics.requests == 0)
    }
}
