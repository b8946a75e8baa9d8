import AuthInterface
import ConcurrencyPrimitives
import Foundation
import NIOConcurrencyHelpers
import ProgramTesting

/// A running peer, and its output so far.
final class PeerProcess: Sendable {
    /// An order to kill exactly one of several processes.
    final class KillOrder: Sendable {
        private let taken = NIOLockedValueBox<Int?>(nil)

        /// The process that is killed; `nil` until one is chosen.
        var victim: Int? { taken.withLockedValue { $0 } }

        /// - Returns: Whether the process is the one to kill.
        func take(_ index: Int) -> Bool {
            taken.withLockedValue { taken in
                guard taken == nil else { return false }
                taken = index
                return true
            }
        }
    }

    private struct State {
        var failures: [String] = []
        var events: [String: Int] = [:]
        var count: Int?
        var order: (order: KillOrder, index: Int)?
    }

    private let program: SpawnedProgram
    private let state = NIOLockedValueBox(State())
    private let reading: Task<Void, Never>

    /// Starts a peer, which sends requests.
    ///
    /// - Parameters:
    ///   - server: The base URL.
    ///   - kind: What the server is.
    ///   - folder: Where the session is.
    ///   - rate: Requests per second.
    ///   - client: The client's identifier and secret, and the server's grace window in seconds.
    /// - Throws: `SubprocessError` when the program cannot be started.
    init(
        of server: URL,
        kind: PeerCommand.ServerKind,
        in folder: TemporaryFolder,
        rate: Double,
        client: (id: String, secret: String, grace: Int)? = nil
    ) async throws {
        var arguments = [
            "--folder", folder.tokens.path, "--server", server.absoluteString, "--kind", kind.rawValue,
            "--rate", "\(rate)",
        ]
        if let client { arguments += ["--client", client.id, "--grace", "\(client.grace)"] }
        let executable = URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
        var environment = ProcessInfo.processInfo.environment
        environment[PeerCommand.secretVariable] = client?.secret ?? ""
        let program = try await SpawnedProgram(executable, ["peer"] + arguments, environment: environment)
        self.program = program
        reading = Task { [state] in
            for await line in program.lines where Self.note(line, in: state) { program.kill() }
            for line in await program.result.errors.split(separator: "\n") {
                state.withLockedValue { $0.failures.append("stderr: \(line)") }
            }
        }
    }

    /// - Returns: Whether to kill the process now.
    private static func note(_ line: String, in state: NIOLockedValueBox<State>) -> Bool {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        return state.withLockedValue { state in
            switch words.first {
            case "failed": state.failures.append(words.last ?? "")
            case "event": state.events[words.last ?? "", default: 0] += 1
            case "done": state.count = words.last.flatMap { Int($0) }
            default: state.failures.append("unexpected line: \(line)")
            }
            return line == "event refreshStarted" && state.order.map { $0.order.take($0.index) } == true
        }
    }

    /// The failures so far.
    var failures: [String] { state.withLockedValue(\.failures) }

    /// Removes the failures so far.
    func removeFailures() { state.withLockedValue { $0.failures = [] } }

    /// The number of events with a name so far.
    func events(_ name: String) -> Int { state.withLockedValue { $0.events[name] ?? 0 } }

    /// Kills the process as soon as it has started a refresh, unless another process was killed for the order.
    func killInRefresh(_ order: KillOrder, index: Int) { state.withLockedValue { $0.order = (order, index) } }

    /// Kills the process.
    func kill() { program.kill() }

    /// Waits until the process has ended.
    func end() async { await reading.value }

    /// Sends the process SIGTERM, and waits until it has ended.
    ///
    /// - Returns: The number of requests it has sent; `nil` if it did not end by itself.
    func stop() async -> Int? {
        program.kill(SIGTERM)
        await end()
        return state.withLockedValue(\.count)
    }
}

/// Waits until a condition is true, for at most a time.
///
/// - Returns: Whether it is true.
func wait(atMost limit: Duration, until condition: () -> Bool) async -> Bool {
    let clock = SystemTimeSource()
    let end = clock.uptime + limit
    while !condition() {
        guard clock.uptime < end else { return false }
        try? await clock.sleep(until: clock.uptime + .milliseconds(50))
    }
    return true
}
