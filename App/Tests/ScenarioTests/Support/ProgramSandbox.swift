import DevBackend
import Foundation
import ProgramTesting
import Storage
import Testing

/// A server, a folder with a stored session, and processes of the `articles` program that use them.
struct ProgramSandbox: Sendable {
    let backend: DevBackend
    let folder: URL
    /// The program's environment, in addition to the server and the folder.
    let environment: [String: String]

    /// Starts a server, signs ada in with the program, runs the body, and stops the server.
    static func run(
        _ configure: (inout DevBackend.Configuration) -> Void = { _ in }, in folder: URL? = nil,
        environment: [String: String] = [:], _ body: (ProgramSandbox) async throws -> Void
    ) async throws {
        var configuration = DevBackend.Configuration()
        configure(&configuration)
        let temporary = try TemporaryFolder()
        try await DevBackend.withServer(configuration) { backend in
            let sandbox = ProgramSandbox(
                backend: backend, folder: folder ?? temporary.tokens, environment: environment)
            let login = try await sandbox.run("login", "social", "--provider", "apple", "--development-name", "ada")
            try #require(login.status == 0, "\(login.errors)")
            try await body(sandbox)
        }
    }

    func run(_ arguments: String...) async throws -> SpawnedProgram.Result {
        try await start(arguments).result
    }

    func start(_ arguments: String...) async throws -> SpawnedProgram { try await start(arguments) }

    private func start(_ arguments: [String]) async throws -> SpawnedProgram {
        let settings = [
            "ARTICLES_BASE_URL": backend.baseURL.absoluteString, "ARTICLES_STORE_PATH": folder.path,
        ].merging(environment) { $1 }
        return try await SpawnedProgram(
            SpawnedProgram.executable("articles"), arguments,
            environment: ProcessInfo.processInfo.environment.merging(settings) { $1 })
    }

    /// Starts a process that sends two requests a second, and prints the events of its engine.
    static func startPeer(
        over folder: URL, _ backend: DevBackend, _ more: [String] = []
    ) async throws -> SpawnedProgram {
        let arguments =
            [
                "peer", "--folder", folder.path, "--server", backend.baseURL.absoluteString, "--kind", "backend",
                "--rate", "2",
            ] + more
        return try await SpawnedProgram(
            SpawnedProgram.executable("Endurance"), arguments, environment: ProcessInfo.processInfo.environment)
    }

    var account: String { backend.baseURL.account }

    func store() throws -> FileTokenStore {
        let name = try #require(
            FileManager.default.contentsOfDirectory(atPath: folder.path).first { $0.hasSuffix(".json") })
        let store = FileTokenStore(folder: folder, account: account)
        try #require(store.file.lastPathComponent == name)
        return store
    }
}
