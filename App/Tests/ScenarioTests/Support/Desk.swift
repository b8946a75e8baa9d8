import DevBackend
import Foundation
import ProgramTesting
import Testing

/// A server, a folder with a stored session, and the program.
struct Desk: Sendable {
    let backend: DevBackend
    let folder: URL

    static func play(
        _ name: String,
        _ configure: (inout DevBackend.Configuration) -> Void = { _ in },
        _ body: (Desk) async throws -> Void
    ) async throws {
        var configuration = DevBackend.Configuration()
        configure(&configuration)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("latchkey-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        try await DevBackend.withServer(configuration) { backend in
            let desk = Desk(backend: backend, folder: folder)
            let login = try await desk.run("login", "social", "--provider", "apple", "--development-name", "ada")
            try #require(login.status == 0, "\(login.errors)")
            try await body(desk)
            let counts = backend.statistics
            print("\(name): \(counts.requests) requests, \(counts.refreshes.received) refreshes received")
        }
    }

    func killBeforeTheSave() async throws {
        let gate = backend.hold("POST", "/auth/refresh", at: .beforeAnswer)
        try await backend.expireAccessTokens()
        let process = try start("list")
        await gate.arrivals(1)
        process.kill()
        _ = await process.ending
        gate.open()
        #expect(backend.statistics.refreshes.committed == 1)
    }

    /// Runs the program to its end.
    func run(_ arguments: String...) async throws -> Program.Ending {
        await (try Program(arguments, at: self)).ending
    }

    /// Starts the program.
    func start(_ arguments: String...) throws -> Program {
        try Program(arguments, at: self)
    }
}

/// A running process of the real program.
struct Program: Sendable {
    /// How a process ended.
    struct Ending: Sendable {
        let status: Int32
        let errors: String
    }

    private let program: SpawnedProgram

    fileprivate init(_ arguments: [String], at desk: Desk) throws {
        let settings = [
            "LATCHKEY_BASE_URL": desk.backend.baseURL.absoluteString, "LATCHKEY_STORE_PATH": desk.folder.path,
        ]
        program = try SpawnedProgram(
            Self.executable,
            arguments,
            environment: ProcessInfo.processInfo.environment.merging(settings) { $1 }
        )
    }

    var ending: Ending {
        get async {
            let errors = await SpawnedProgram.text(program.errors)
            if case .status(let status) = await program.end { return Ending(status: status, errors: errors) }
            return Ending(status: -1, errors: errors)
        }
    }

    /// Ends the process as the system does when it needs the memory: at once, wherever it is.
    func kill() {
        program.kill()
    }

    /// The program, which the build puts beside the tests.
    private static var executable: URL {
        let bundle = URL(fileURLWithPath: CommandLine.arguments.first ?? "").deletingLastPathComponent()
        return bundle.appendingPathComponent("articles")
    }
}
