import AuthInterface
import ConcurrencyPrimitives
import Foundation
import NIOConcurrencyHelpers
import ProgramTesting

final class PeerProcess: Sendable {
    /// An order to kill exactly one of several processes.
    final class KillOrder: Sendable {
        private let taken = NIOLockedValueBox<Int?>(nil)

        /// How long after the start of its refresh the process is killed.
        let delay: Duration

        init(after delay: Duration) { self.delay = delay }

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
        var isStarted = false
        var count: Int?
        var order: (order: KillOrder, index: Int)?
    }

    private let program: SpawnedProgram
    private let state = NIOLockedValueBox(State())
    private let reading: Task<Void, Never>

    /// Starts a peer, which sends requests with the session in a folder: so many per second. The secret is that of the
    /// client, or its key; the options are more arguments.
    init(
        of server: URL, kind: PeerCommand.ServerKind, in folder: TemporaryFolder, rate: Double, secret: String = "",
        options: [String] = []
    ) async throws {
        let arguments =
            [
                "--folder", folder.tokens.path, "--server", server.absoluteString, "--kind", kind.rawValue,
                "--rate", "\(rate)",
            ] + options
        let executable = URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
        var environment = ProcessInfo.processInfo.environment
        environment[PeerCommand.secretVariable] = secret
        let program = try await SpawnedProgram(executable, ["peer"] + arguments, environment: environment)
        self.program = program
        reading = Task { [state] in
            for await line in program.lines {
                guard let delay = Self.note(line, in: state) else { continue }
                let clock = SystemTimeSource()
                try? await clock.sleep(until: clock.uptime + delay)
                program.kill()
            }
            for line in await program.result.errors.split(separator: "\n") {
                state.withLockedValue { $0.failures.append("stderr: \(line)") }
            }
        }
    }

    /// - Returns: When to kill the process; `nil`: not because of this line.
    private static func note(_ line: String, in state: NIOLockedValueBox<State>) -> Duration? {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        return state.withLockedValue { state in
            switch words.first {
            case "failed": state.failures.append(words.last ?? "")
            case "event": state.events[words.last ?? "", default: 0] += 1
            case "started": state.isStarted = true
            case "done": state.count = words.last.flatMap { Int($0) }
            default: state.failures.append("unexpected line: \(line)")
            }
            guard line == "event refreshStarted", let order = state.order, order.order.take(order.index) else {
                return nil
            }
            return order.order.delay
        }
    }

    var failures: [String] { state.withLockedValue(\.failures) }

    func removeFailures() { state.withLockedValue { $0.failures = [] } }

    func events(_ name: String) -> Int { state.withLockedValue { $0.events[name] ?? 0 } }

    /// Kills the process when it has started a refresh, unless another process was killed for the order.
    func killInRefresh(_ order: KillOrder, index: Int) { state.withLockedValue { $0.order = (order, index) } }

    func kill() { program.kill() }

    func end() async { await reading.value }

    /// Sends the process SIGTERM once it has started, and waits until it has ended. Returns the number of requests that
    /// it has sent; `nil`: it did not end by itself.
    func stop() async -> Int? {
        _ = await wait(atMost: .seconds(120)) { state.withLockedValue(\.isStarted) }
        program.kill(SIGTERM)
        await end()
        return state.withLockedValue(\.count)
    }
}

/// Waits until a condition is true, for at most a time. Returns whether it is.
func wait(atMost limit: Duration, until condition: () -> Bool) async -> Bool {
    let clock = SystemTimeSource()
    let end = clock.uptime + limit
    while !condition() {
        guard clock.uptime < end else { return false }
        try? await clock.sleep(until: clock.uptime + .milliseconds(50))
    }
    return true
}
