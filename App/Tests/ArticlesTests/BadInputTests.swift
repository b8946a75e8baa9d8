import DevBackend
import Foundation
import ProgramTesting
import Testing

/// Each error is one line on standard error that says what to do, and an exit status.
@Suite(.home) struct BadInputTests {
    static let usageErrors: [(arguments: [String], status: Int32, words: String)] = [
        (["--bogus"], 64, "Unknown option '--bogus'; see 'articles --help'"),
        (["bogus"], 64, "see 'articles --help'"), (["login", "guest"], 64, "see 'articles login guest --help'"),
        (
            ["login", "social", "--provider", "apple", "--token-file", "-", "--store", "cloud"], 64,
            "see 'articles login social --help'"
        ),
        (["demo", "--requests", "0"], 64, "--requests must be from 1 to 5000"),
        (["demo", "--requests", "many"], 64, "--requests"),
        (["demo", "--expired-status", "200"], 64, "--expired-status must be 401 or 419"),
        (["demo", "--refresh", "magic"], 64, "--refresh"),
        (["serve", "--port", "70000"], 64, "--port must be from 0 to 65535"),
        (["list", "--al"], 64, "Did you mean '--all'? See 'articles list --help'"),
        (["create", "--title", "x"], 64, "--body"), (["show"], 64, "<id>"),
        (["show"], 64, "see 'articles show --help'"), (["show", ""], 64, "the identifier must not be empty"),
        (["edit", "7"], 64, "give --title, --body or both"),
        (["lits"], 64, "unknown command 'lits'. Did you mean 'list'? See 'articles --help'"),
        (["help", "nope"], 64, "unknown command 'nope'; see 'articles --help'"),
        (["profile", "lst"], 64, "Did you mean 'list'? See 'articles profile --help'"),
        (["login"], 64, "say how: 'articles login browser'"),
        (["login", "device"], 64, "set --refresh oauth2 and --client-id"),
        (["delete"], 64, "<id>"),
        (["delete", "7"], 77, "not signed in"),
        (["list", "--limit", "0"], 64, "--limit must be at least 1"),
        (["login", "guest", "--name", "Ada"], 64, "--photo"),
        (["login", "guest", "--name", "Ada", "--photo", "/nowhere.jpg"], 66, "/nowhere.jpg does not exist"),
        (["login", "guest", "--name", "Ada", "--photo", "/"], 66, "/ is a folder"),
        (["login", "social", "--provider", "apple"], 64, "--token-file"),
        (["list"], 77, "not signed in; sign in with 'articles login'"),
        (["show", "1"], 77, "not signed in"),
        (["create", "--title", "a", "--body", "b"], 77, "not signed in"),
    ]

    @Test(arguments: usageErrors.indices)
    func `a usage error is one line and an exit status`(_ index: Int) async throws {
        let (arguments, status, words) = Self.usageErrors[index]
        let run = try await home.run(arguments)
        run.expectError(status, words)
        #expect(run.errors.hasPrefix("articles: ") && run.output.isEmpty)
    }

    @Test func `with --json an error is also an object`() async throws {
        let run = try await home.run(["list", "--json"])
        #expect(try run.json("error", "status") as? Int == 77)
        #expect((try run.json("error", "message") as? String)?.hasPrefix("not signed in") == true)
        #expect(run.errorLine != nil)
    }

    @Test(
        .server,
        arguments: [
            (Data("not a picture".utf8), "articles: The file is not a picture: choose a JPEG or a PNG."),
            (Pictures.claimsTooMuch, "30000×20000"),
        ])
    func `a file that is not a picture, or cannot be fitted, is not sent`(content: Data, words: String) async throws {
        let file = try home.file("photo", content)
        let run = try await home.run(
            ["login", "guest", "--name", "Ada", "--photo", file] + base)
        run.expectError(65, words)
        #expect(backend.statistics.requests == 0)
    }

    @Test func `an unreachable server is named`() async throws {
        // No system gives this port to a server of another test.
        let port = "http://127.0.0.1:1/api/v1"
        let photo = try home.file("photo.jpg", Pictures.valid())
        let run = try await home.run(["login", "guest", "--name", "Ada", "--photo", photo, "--base-url", port])
        let line = try #require(run.errors.split(separator: "\n").last)
        #expect(line.hasPrefix("articles: cannot reach \(port)"))
        #expect(line.contains("articles serve"))
        #expect(run.status == 69)
    }

    @Test(arguments: [["list"], ["profile", "list"]])
    func `an invalid configuration file is named`(_ command: [String]) async throws {
        let file = try home.file("wrong.json", Data("{".utf8))
        try await home.run(command, ["ARTICLES_CONFIG": file]).expectError(78, "wrong.json is not a JSON object")
    }
}
