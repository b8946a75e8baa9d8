import AuthInterface
import DevBackend
import Foundation
import ProgramTesting
import Storage
import Testing

/// The real executable, run once.
struct CommandLineRun {
    let status: Int32
    let output: String
    let errors: String

    /// Both streams, to search for what must not be there.
    var everything: String { output + errors }

    /// What went wrong, if it is one line.
    var oneError: String? {
        let lines = errors.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.count == 2 && lines[1].isEmpty ? String(lines[0]) : nil
    }

    /// The one object on standard output.
    func object() throws -> [String: Any] {
        let value = try JSONSerialization.jsonObject(with: Data(output.utf8))
        return try #require(value as? [String: Any])
    }
}

/// A home of its own for runs of the executable, removed when the last reference goes.
final class Home: Sendable {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "articles-tests-\(UUID().uuidString)")
        for folder in [temporary, folder.appending(path: "state")] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
    }

    /// What the executable takes for the system's temporary folder.
    var temporary: URL { folder.appending(path: "tmp") }

    /// What is there now.
    func leftovers() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: temporary.path)
    }

    deinit {
        // A folder that stays behind is no reason to fail a test.
        try? FileManager.default.removeItem(at: folder)
    }

    /// Puts a file there.
    func file(_ name: String, _ content: Data) throws -> String {
        let url = folder.appending(path: name)
        try content.write(to: url)
        return url.path
    }

    /// The one token file, however it is named.
    func tokenFile() throws -> URL {
        let tokens = folder.appending(path: "state/articles/tokens")
        let files = try FileManager.default.contentsOfDirectory(at: tokens, includingPropertiesForKeys: nil)
        return try #require(files.first { $0.pathExtension == "json" })
    }

    /// The store of the session with a server.
    func tokenStore(of backend: DevBackend) -> FileTokenStore {
        let url = backend.baseURL
        let account = "http://\(url.host ?? ""):\(url.port ?? 0)\(url.path)"
        return FileTokenStore(folder: folder.appending(path: "state/articles/tokens"), account: account)
    }

    /// Runs the executable that was built beside the tests.
    func run(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> CommandLineRun {
        let program = try program(arguments, environment)
        async let output = SpawnedProgram.text(program.output)
        async let errors = SpawnedProgram.text(program.errors)
        return CommandLineRun(status: Self.status(await program.end), output: await output, errors: await errors)
    }

    /// Runs the executable and interrupts it as soon as it has said something.
    ///
    /// - Returns: Its exit status; -1 when a signal ended it.
    func interruptWhenItSpeaks(_ arguments: [String]) async throws -> Int32 {
        let program = try program(arguments, [:])
        for await _ in program.output {
            program.kill(SIGINT)
            break
        }
        return Self.status(await program.end)
    }

    /// Runs the executable until it has said something, and interrupts it.
    ///
    /// - Returns: What it said.
    func firstOutput(_ arguments: [String]) async throws -> String {
        let program = try program(arguments, [:])
        var said = Data()
        for await piece in program.output {
            said += piece
            program.kill(SIGINT)
            break
        }
        _ = await program.end
        return String(decoding: said, as: UTF8.self)
    }

    private func program(_ arguments: [String], _ environment: [String: String]) throws -> SpawnedProgram {
        try SpawnedProgram(
            Self.executable(),
            arguments,
            environment: environment.merging([
                "HOME": folder.path, "XDG_STATE_HOME": folder.appending(path: "state").path,
                "XDG_CONFIG_HOME": folder.appending(path: "config").path, "TMPDIR": temporary.path,
            ]) { own, _ in own }
        )
    }

    private static func status(_ end: SpawnedProgram.End) -> Int32 {
        if case .status(let status) = end { status } else { -1 }
    }

    private static func executable() throws -> URL {
        let tests = try #require(CommandLine.arguments.first)
        let places = [Bundle.main.bundleURL, URL(filePath: tests).deletingLastPathComponent()]
            .flatMap { [$0, $0.deletingLastPathComponent()] }
        let found = places.map { $0.appending(path: "articles") }.first {
            FileManager.default.isExecutableFile(atPath: $0.path) && !$0.hasDirectoryPath
        }
        return try #require(found, "the executable is built beside the tests")
    }
}
