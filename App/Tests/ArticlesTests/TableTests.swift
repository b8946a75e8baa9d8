import DevBackend
import Foundation
import ProgramTesting
import Testing

/// What other programs read: tables in a pipe, selected fields, and a standard output without remarks.
@Suite struct TableTests {
    private let home = Home()

    @Test func `a table in a pipe has a tab between cells and no heading`() async throws {
        try await home.withSignedIn { base, _ in
            let title = "one\ttwo\u{1B}[31mthree\nfour"
            #expect(try await home.run(["create", "--title", title, "--body", "b"] + base).status == 0)
            let run = try await home.run(["list", "--limit", "2"] + base)
            let rows = run.output.split(separator: "\n").map { $0.split(separator: "\t") }
            #expect(rows.map(\.count) == [4, 4], "\(run.output)")
            #expect(rows[0][1] == "one two [31mthree four" && rows[0][2] == "Ada")
            #expect(run.errors.hasPrefix("2 articles, and more follow"))

            let status = try await home.run(["status"] + base)
            let names = status.output.split(separator: "\n").map { $0.prefix { $0 != "\t" } }
            #expect(names == ["server", "store", "state", "token"])
        }
    }

    @Test func `remarks and progress are not on standard output`() async throws {
        try await DevBackend.withServer { backend in
            let photo = try home.file("photo.jpg", Pictures.valid())
            let run = try await home.run(
                ["login", "guest", "--name", "Ada", "--photo", photo, "--base-url", "\(backend.baseURL)"])
            #expect(run.output == "signed in as Ada (user 2)\n")
            #expect(run.errors.contains("photo fitted: 320×240") && run.errors.contains("100 %"))
        }
    }

    @Test func `--json with names prints these fields only`() async throws {
        try await home.withSignedIn { base, _ in
            let listed = try await home.run(["list", "--limit", "2", "--json", "id,title"] + base).object()
            let articles = try #require(listed["articles"] as? [[String: Any]])
            #expect(articles.map { Set($0.keys) } == [["id", "title"], ["id", "title"]])
            #expect(listed["nextCursor"] is String)
            let id = try #require(articles[0]["id"] as? String)
            for arguments in [["show", id, "--json=title"], ["show", "--json=title", id]] {
                let shown = try await home.run(arguments + base).object()["article"] as? [String: Any]
                #expect(shown.map { Array($0.keys) } == ["title"])
            }
            let whole = try await home.run(["show", "--json", id] + base).object()["article"] as? [String: Any]
            #expect(whole?["content"] is String)
            let status = try await home.run(["status", "--json", "state,lastEnding"] + base).object()
            #expect(status["state"] as? String == "signedIn" && status["lastEnding"] is NSNull && status.count == 2)
            let logout = try await home.run(["logout", "--json", "state"])
            #expect(logout.errorLine?.contains("use --json without fields") == true, "\(logout.errors)")
        }
    }

    @Test(arguments: ["id,titel", "id,,title", ","])
    func `an unknown field is an error before anything is sent`(_ fields: String) async throws {
        try await DevBackend.withServer { backend in
            let run = try await home.run(
                ["create", "--title", "a", "--body", "b", "--base-url", "\(backend.baseURL)", "--json=\(fields)"])
            #expect(run.status == 64)
            let line = try #require(run.errorLine, "\(run.errors)")
            #expect(
                line.contains("; the fields are id, title, content, author, createdAt, updatedAt; see 'articles"))
            #expect(backend.statistics.requests == 0)
        }
    }
}
