import DevBackend
import Foundation
import ProgramTesting
import Testing

/// `create` without `--body`, on a terminal that `script` makes.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script"), "there is no /usr/bin/script"))
struct EditorTests {
    private let home = Home()

    /// Creates an article with an editor: a shell script that gets the file's path.
    private func create(
        with editor: String, _ base: [String], _ environment: [String: String] = [:]
    ) async throws -> SpawnedProgram.Result {
        let path = try home.file("editor", Data("#!/bin/sh\n\(editor)\n".utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        let words = [SpawnedProgram.executable("articles").path, "create", "--title", "Hello"] + base
        let command = words.map { "'\($0)'" }.joined(separator: " ")
        let variables = ["EDITOR": path, "TERM": "dumb"].merging(environment) { $1 }
        return try await home.start(
            ["-qec", command, "/dev/null"], variables, URL(fileURLWithPath: "/usr/bin/script")
        ).result
    }

    @Test func `the text of the editor is published, and its file is removed`() async throws {
        try await home.withSignedIn { base, _ in
            let run = try await create(with: #"stat -c %a "$1" >"$HOME/mode"; echo 'Written here' >"$1""#, base)
            #expect(run.status == 0 && run.output.contains("Written here"), "\(run.allOutput)")
            #expect(try String(contentsOfFile: home.location("mode"), encoding: .utf8) == "600\n")
            #expect(try home.leftovers().isEmpty)
            // A variable may have arguments, and VISUAL comes first.
            let second = try await create(
                with: #"echo "$1 by arguments" >"$2""#, base, ["VISUAL": "\(home.location("editor")) Text"])
            #expect(second.status == 0 && second.output.contains("Text by arguments"), "\(second.allOutput)")
        }
    }

    @Test func `without a text nothing is published`() async throws {
        try await home.withSignedIn { base, backend in
            let requests = backend.statistics.requests
            let empty = try await create(with: "exit 0", base)
            #expect(empty.status == 65 && empty.output.contains("the text is empty; nothing was published"))
            #expect(try home.leftovers().isEmpty)
            let failed = try await create(with: #"echo draft >"$1"; exit 3"#, base)
            #expect(failed.status == 65 && failed.output.contains("nothing was published, and the text is in"))
            #expect(try home.leftovers().count == 1)
            #expect(backend.statistics.requests == requests)
        }
    }

    @Test func `a text that the server does not take is kept`() async throws {
        try await home.withSignedIn { base, backend in
            backend.faults = FaultPlan([FaultRule("POST", "/articles", .respond(status: 403))])
            let run = try await create(with: #"echo 'Long work' >"$1""#, base)
            #expect(run.status == 1 && run.output.contains("the text is in "), "\(run.allOutput)")
            let name = try #require(try home.leftovers().first)
            #expect(try String(contentsOfFile: home.location("tmp/\(name)"), encoding: .utf8) == "Long work\n")
        }
    }
}
