import Foundation
import ProgramTesting
import Testing

/// What Tab completes, in the shells themselves.
@Suite struct CompletionTests {
    private let home = Home()

    init() throws {
        try home.configure(#"{"profiles": {"staging": {"base-url": "https://staging.example.com/v1"}}}"#)
        for name in ["photo-of-ada.jpg", "photo-of-ada.txt", "other.har"] { _ = try home.file(name, Data()) }
    }

    private static let driver = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Completion/complete")

    private static func isInstalled(_ shell: String) -> Bool {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\(shell)")
    }

    /// Types a line into an interactive shell in the home folder, and presses Tab.
    ///
    /// - Returns: The line as it is then.
    private func complete(_ line: String, in shell: String) async throws -> String {
        let program = SpawnedProgram.executable("articles")
        let script = try await home.run(["--generate-completion-script", shell]).output
        let path = try home.file("_articles", Data(script.utf8))
        let environment = ["PATH": "\(program.deletingLastPathComponent().path):/usr/bin:/bin"]
        let command = ["-c", #"cd "$HOME" && exec "$@""#, "sh", Self.driver.path, shell, path, line]
        let result = try await home.start(command, environment, URL(fileURLWithPath: "/bin/sh")).result
        return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// What is typed, and what it becomes.
    static let lines: [(typed: String, completed: String)] = [
        ("articles list --profile stag", "articles list --profile staging"),
        ("articles login guest --photo photo-", "articles login guest --photo photo-of-ada.jpg"),
        ("articles list --har oth", "articles list --har other.har"),
        ("articles login social --provider k", "articles login social --provider kakao"),
        ("articles list --store mem", "articles list --store memory"),
        ("articles show 7 --json title", "articles show 7 --json title"),
        ("articles doc", "articles doctor"),
        ("articles session imp", "articles session import"),
    ]

    // The driver is a script of zsh, whose terminal it uses for fish too.
    @Test(.enabled(if: isInstalled("zsh"), "zsh is not installed"), arguments: lines)
    func `zsh completes commands, values and files`(_ typed: String, _ completed: String) async throws {
        #expect(try await complete(typed, in: "zsh") == completed)
    }

    @Test(
        .enabled(if: isInstalled("zsh") && isInstalled("fish"), "zsh or fish is not installed"), arguments: lines)
    func `fish completes commands, values and files`(_ typed: String, _ completed: String) async throws {
        #expect(try await complete(typed, in: "fish") == completed)
    }
}
