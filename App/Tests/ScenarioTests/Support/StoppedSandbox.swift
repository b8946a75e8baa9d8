#if os(Linux)
import AuthInterface
import DevBackend
import Foundation
import NetworkCore
import ProgramTesting
import Storage
import Testing
import TokenRefresh

/// A server, an application in this process, and processes that are stopped, over one token file and one clock.
struct StoppedSandbox: Sendable {
    /// What the server forgives when a refresh token is used again, and the clients know of it.
    enum Tolerance: String, CaseIterable {
        case none, key, grace

        fileprivate static let window: Int64 = 86_400

        fileprivate var replay: ReplayTolerance {
            switch self {
            case .none: .none
            case .key: .sameKey
            case .grace: .within(.seconds(Self.window))
            }
        }

        fileprivate var argument: String { self == .grace ? "\(Self.window)" : rawValue }
    }

    /// The deadline of a refresh, and the second limit of its call, in seconds of the clock.
    static let deadline: Int64 = 600, callLimit: Int64 = 1_200

    let programs: ProgramSandbox
    let tolerance: Tolerance
    let clock: SharedClock
    private let clockFile: URL
    private let store: FileTokenStore
    /// The process that is not stopped.
    let app: TestApp

    var backend: DevBackend { programs.backend }
    var refreshes: ServerStatistics.Refreshes { backend.statistics.refreshes }

    /// Starts a server and an application, signs ada in, runs the body, and stops the server.
    static func run(
        _ tolerance: Tolerance = .none, _ body: (StoppedSandbox) async throws -> Void
    ) async throws {
        let temporary = try TemporaryFolder()
        let file = temporary.url.appendingPathComponent("clock")
        let clock = try SharedClock(at: file)
        var setup = TestApp.Setup()
        setup.failFast(with: clock)
        setup.replay = tolerance.replay
        setup.server.now = { clock.date }
        // The token is refused, and never too old: nothing is refreshed that the scenario does not ask for.
        setup.server.accessTokenLifetime = .seconds(30 * 86_400)
        if tolerance == .grace { setup.server.rotationGrace = .seconds(Tolerance.window) }
        try await ProgramSandbox.run({ [setup] in $0 = setup.server }) { programs in
            let used = try programs.store()
            let store = FileTokenStore(folder: programs.folder, account: programs.account, clock: clock)
            try #require(store.file == used.file)
            let app = TestApp(programs.backend, setup, store: store)
            _ = try await app.session.restore()
            try await body(
                StoppedSandbox(
                    programs: programs, tolerance: tolerance, clock: clock, clockFile: file, store: store, app: app))
        }
    }

    func startPeer(stoppingAt point: String? = nil) async throws -> SpawnedProgram {
        let transport = ScenarioTransport.current == .urlSession ? "URLSession" : "AsyncHTTPClient"
        let arguments = [
            "--account", programs.account, "--clock", clockFile.path, "--deadline", "\(Self.deadline)",
            "--replay", tolerance.argument, "--transport", transport,
        ]
        return try await ProgramSandbox.startPeer(
            over: programs.folder, backend, arguments + (point.map { ["--stop-at", $0] } ?? []))
    }

    /// Starts a process that sends requests, and waits until it has stopped itself.
    func startPeer(untilStoppedAt point: String) async throws -> SpawnedProgram {
        let peer = try await startPeer(stoppingAt: point)
        await peer.waitForLine("stopping")
        try await peer.waitUntilStopped()
        return peer
    }

    /// Removes the lease from under its holder, as a claim lapses: another process can have it, and nothing proves that
    /// the holder has ended.
    func removeLease() throws {
        try FileManager.default.removeItem(at: store.file.appendingPathExtension("lease"))
    }

    /// Sends requests, and returns the codes of those that failed.
    func send(_ count: Int = 20) async -> [AuthenticationError.Code?] {
        await app.sendAll(count).compactMap { $0.map { $0.authentication?.code } }
    }

    /// Rule 4: without tolerance the others wait for the second limit, make no call meanwhile, and sign no user out.
    func waitByRule4() async {
        guard tolerance == .none else { return }
        let before = refreshes
        #expect(await send() == Array(repeating: .refreshUnavailable, count: 20))
        #expect(refreshes == before)
        clock.advance(bySeconds: Self.callLimit)
    }

    /// Continues a process that was stopped for longer than every limit, and returns which of the outcomes its session
    /// has first. `nil`: none of them until the process has ended.
    func resume(
        _ peer: SpawnedProgram, until outcomes: Set<String> = ["refreshed", "adopted", "signedOut"]
    ) async -> String? {
        clock.advance(bySeconds: 10 * Self.callLimit)
        peer.kill(SIGCONT)
        let events = Set(outcomes.map { "event \($0)" })
        let line = await peer.lines.first { events.contains($0) }
        return line.map { String($0.dropFirst("event ".count)) }
    }

    func end(_ peer: SpawnedProgram, hasEnded isSignedOut: Bool = false) async {
        peer.kill(SIGTERM)
        let result = await peer.result
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("event signedOut") == isSignedOut, "\(result.output)")
    }
}
#endif
