import AuthInterface
import DevBackend
import Foundation
import ProgramTesting
import Storage
import Testing

/// A home folder for runs of `articles`, removed with the last reference.
final class Home: Sendable {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for folder in [temporary, path("state")] {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        }
    }

    private func path(_ name: String) -> URL { folder.url.appending(path: name) }

    func configure(_ content: String) throws {
        let folder = path("config/articles")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(content.utf8).write(to: folder.appending(path: "config.json"))
    }

    /// The path of a file in the home folder, which may not exist.
    func location(_ name: String) -> String { path(name).path }

    /// The system's temporary folder for the program.
    private var temporary: URL { path("tmp") }

    func leftovers() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: temporary.path)
    }

    /// Creates a file in the home folder. Returns its path.
    func file(_ name: String, _ content: Data) throws -> String {
        let url = path(name)
        try content.write(to: url)
        return url.path
    }

    /// The names of the files in the home folder that start with a text.
    func files(_ prefix: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { $0.hasPrefix(prefix) }
    }

    func tokenFile() throws -> URL {
        let files = try FileManager.default.contentsOfDirectory(
            at: path("state/articles/tokens"), includingPropertiesForKeys: nil)
        return try #require(files.first { $0.pathExtension == "json" })
    }

    func tokenStore(of backend: DevBackend) -> FileTokenStore {
        FileTokenStore(folder: path("state/articles/tokens"), account: backend.baseURL.account)
    }

    func tokens(of backend: DevBackend) async throws -> TokenBundle {
        try #require(try await tokenStore(of: backend).load())
    }

    /// The journal of the session with a server (G30).
    func journal(of backend: DevBackend) -> FileSessionJournal {
        FileSessionJournal(
            folder: path("state/articles/journal"), account: backend.baseURL.account,
            storeName: path("state/articles/tokens").path)
    }

    func mode(of path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    static func login(as name: String = "Ada") -> [String] {
        ["login", "social", "--provider", "apple", "--development-name", name]
    }

    func run(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> SpawnedProgram.Result {
        try await start(arguments, environment).result
    }

    /// Starts a script of the shell; `$0` is the program, `$@` the arguments.
    func startShell(_ script: String, _ arguments: [String]) async throws -> SpawnedProgram {
        let words = ["-c", script, SpawnedProgram.executable("articles").path] + arguments
        return try await start(words, [:], URL(fileURLWithPath: "/bin/sh"))
    }

    /// A user namespace in which no process can watch a folder.
    private static let withoutWatching = [
        "--user", "--map-root-user", "sh", "-c",
        #"echo 0 >/proc/sys/user/max_inotify_instances && exec "$0" "$@""#,
    ]

    @Sendable static func canForbidWatching() async -> Bool {
        let unshare = URL(fileURLWithPath: "/usr/bin/unshare")
        let probe = try? await SpawnedProgram(unshare, withoutWatching + ["true"], environment: [:])
        return await probe?.result.status == 0
    }

    func runWithoutWatching(_ arguments: [String]) async throws -> SpawnedProgram.Result {
        let script = Self.withoutWatching + [SpawnedProgram.executable("articles").path]
        return try await start(script + arguments, [:], URL(fileURLWithPath: "/usr/bin/unshare")).result
    }

    func start(
        _ arguments: [String], _ environment: [String: String], _ program: URL? = nil
    ) async throws -> SpawnedProgram {
        let folders = [
            "HOME": folder.url.path, "XDG_STATE_HOME": path("state").path, "XDG_CONFIG_HOME": path("config").path,
            "TMPDIR": temporary.path,
        ]
        return try await SpawnedProgram(
            program ?? SpawnedProgram.executable("articles"), arguments,
            environment: environment.merging(folders) { own, _ in own })
    }
}

extension SpawnedProgram.Result {
    var allOutput: String { output + errors }

    /// The text on standard error, if it is one line.
    var errorLine: String? {
        let lines = errors.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.count == 2 && lines[1].isEmpty ? String(lines[0]) : nil
    }

    var outputLines: [Substring] { output.split(separator: "\n") }

    func object() throws -> [String: Any] {
        let value = try JSONSerialization.jsonObject(with: Data(output.utf8))
        return try #require(value as? [String: Any])
    }

    /// A value in the JSON object on standard output, by the names that lead to it.
    func json(_ names: String...) throws -> Any? {
        try names.reduce(object() as Any?) { ($0 as? [String: Any])?[$1] }
    }

    /// Expects an exit status, and one line on standard error that contains a text.
    func expectError(_ status: Int32, _ words: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(self.status == status, "\(allOutput)", sourceLocation: sourceLocation)
        #expect(errorLine?.contains(words) == true, "\(errors)", sourceLocation: sourceLocation)
    }
}
