import AuthInterface
import DevBackend
import Foundation
import ProgramTesting
import Storage
import Testing

/// A server, a folder with a stored session, and the program.
struct Desk: Sendable {
    let backend: DevBackend
    /// Where the program keeps its tokens.
    let folder: URL
    /// What the program is told beside the server and the folder.
    let environment: [String: String]

    static func play(
        _ name: String,
        _ configure: (inout DevBackend.Configuration) -> Void = { _ in },
        in place: URL? = nil,
        environment: [String: String] = [:],
        _ body: (Desk) async throws -> Void
    ) async throws {
        var configuration = DevBackend.Configuration()
        configure(&configuration)
        let temporary = try TemporaryFolder()
        defer { temporary.remove() }
        try await DevBackend.withServer(configuration) { backend in
            let desk = Desk(backend: backend, folder: place ?? temporary.tokens, environment: environment)
            let login = try await desk.run("login", "social", "--provider", "apple", "--development-name", "ada")
            try #require(login.status == 0, "\(login.errors)")
            try await body(desk)
            let counts = backend.statistics
            note("\(name): \(counts.requests) requests, \(counts.refreshes.received) refreshes received")
        }
    }

    /// Kills the program when the server has rotated and the program does not know it yet.
    func killBeforeTheSave() async throws {
        let gate = backend.hold("POST", "/auth/refresh", at: .beforeResponse)
        try await backend.expireAccessTokens()
        let process = try start("list")
        await gate.arrivals(1)
        process.kill()
        _ = await process.ending
        gate.open()
        #expect(backend.statistics.refreshes.committed == 1)
    }

    /// The store that the program uses.
    func store() throws -> FileTokenStore {
        let name = try #require(
            FileManager.default.contentsOfDirectory(atPath: folder.path).first { $0.hasSuffix(".json") })
        // The account that gives the file this name.
        let url = backend.baseURL
        let account = "http://\(url.host ?? ""):\(url.port ?? 0)\(url.path)"
        let store = FileTokenStore(folder: folder, account: account)
        try #require(store.file.lastPathComponent == name)
        return store
    }

    /// Makes the stored access token look as if most of its lifetime had passed.
    ///
    /// - Parameters:
    ///   - store: The store that the program uses.
    ///   - seconds: How much of 900 seconds is left.
    /// - Throws: `TokenStoreError`.
    func age(_ store: FileTokenStore, left seconds: Double) async throws {
        try await store.update { found in
            guard case .success(.active(let bundle)) = found else { return nil }
            return .active(
                TokenBundle(
                    accessToken: bundle.accessToken,
                    refreshToken: bundle.refreshToken,
                    expiresAt: Date() + seconds,
                    session: bundle.session,
                    generation: bundle.generation,
                    receivedAt: Date() + seconds - 900
                )
            )
        }
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
        let output: String
        let errors: String
    }

    private let program: SpawnedProgram
    private let output: Task<String, Never>
    private let errors: Task<String, Never>
    private let lines: AsyncStream<String>

    fileprivate init(_ arguments: [String], at desk: Desk) throws {
        let settings = [
            "LATCHKEY_BASE_URL": desk.backend.baseURL.absoluteString, "LATCHKEY_STORE_PATH": desk.folder.path,
        ]
        try self.init(Self.executable("articles"), arguments, settings.merging(desk.environment) { $1 })
    }

    /// Starts a process that sends requests for the user, twice a second, and says what its engine reports.
    init(peerOver folder: URL, _ backend: DevBackend) throws {
        try self.init(
            Self.executable("Endurance"),
            [
                "peer", "--folder", folder.path, "--server", backend.baseURL.absoluteString, "--kind", "backend",
                "--rate", "2",
            ]
        )
    }

    private init(_ executable: URL, _ arguments: [String], _ settings: [String: String] = [:]) throws {
        let environment = ProcessInfo.processInfo.environment.merging(settings) { $1 }
        let program = try SpawnedProgram(executable, arguments, environment: environment)
        self.program = program
        let (lines, line) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        output = Task {
            var text = ""
            for await piece in program.output {
                let said = String(decoding: piece, as: UTF8.self)
                text += said
                for words in said.split(separator: "\n") { line.yield(String(words)) }
            }
            line.finish()
            return text
        }
        errors = Task { await SpawnedProgram.text(program.errors) }
    }

    var ending: Ending {
        get async {
            var status: Int32 = -1
            if case .status(let own) = await program.end { status = own }
            return Ending(status: status, output: await output.value, errors: await errors.value)
        }
    }

    /// Waits until the program has printed a line on its standard output, or has closed it.
    ///
    /// - Parameter text: The line; `nil` for any.
    func says(_ text: String? = nil) async {
        for await line in lines where text == nil || line == text { return }
    }

    /// Asks the process to end by itself.
    func stop() {
        program.kill(SIGTERM)
    }

    /// Ends the process as the system does when it needs the memory: at once, wherever it is.
    func kill() {
        program.kill()
    }

    /// A program, which the build puts beside the tests.
    private static func executable(_ name: String) -> URL {
        let bundle = URL(fileURLWithPath: CommandLine.arguments.first ?? "").deletingLastPathComponent()
        return bundle.appendingPathComponent(name)
    }
}
