import AuthInterface
import ConcurrencyPrimitives
import Foundation
import NIOConcurrencyHelpers
import ProgramTesting

/// A running peer, and what it has said so far.
final class PeerProcess: Sendable {
    private struct State {
        var failures: [String] = []
        var events: [String: Int] = [:]
        var count: Int?
        var order: (order: KillOrder, index: Int)?
    }

    private let program: SpawnedProgram
    private let state = NIOLockedValueBox(State())
    private let reading: Task<Void, Never>

    /// Starts a peer.
    ///
    /// - Parameters:
    ///   - arguments: Its arguments.
    ///   - secret: The client's secret.
    /// - Throws: `POSIXError` when the program cannot be started.
    init(_ arguments: [String], secret: String = "") throws {
        let executable = URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
        var environment = ProcessInfo.processInfo.environment
        environment[PeerCommand.secretVariable] = secret
        let program = try SpawnedProgram(executable, ["peer"] + arguments, environment: environment)
        self.program = program
        let errors = program.errors
        reading = Task { [state] in
            async let complaints = SpawnedProgram.text(errors)
            var rest = Data()
            for await piece in program.output {
                rest += piece
                while let end = rest.firstIndex(of: 0x0A) {
                    let line = String(decoding: rest[..<end], as: UTF8.self)
                    rest.removeSubrange(...end)
                    if Self.note(line, in: state) { program.kill() }
                }
            }
            for line in await complaints.split(separator: "\n") {
                state.withLockedValue { $0.failures.append("stderr: \(line)") }
            }
        }
    }

    /// - Returns: Whether the process must die here.
    private static func note(_ line: String, in state: NIOLockedValueBox<State>) -> Bool {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        return state.withLockedValue { state in
            switch words.first {
            case "failed": state.failures.append(words.last ?? "")
            case "event": state.events[words.last ?? "", default: 0] += 1
            case "done": state.count = words.last.flatMap { Int($0) }
            default: state.failures.append("said: \(line)")
            }
            return line == "event refreshStarted" && state.order.map { $0.order.take($0.index) } == true
        }
    }

    /// What failed so far.
    var failures: [String] { state.withLockedValue(\.failures) }

    /// Forgets what has failed so far.
    func forgetFailures() { state.withLockedValue { $0.failures = [] } }

    /// How many events of a name there were so far.
    func events(_ name: String) -> Int { state.withLockedValue { $0.events[name] ?? 0 } }

    /// Kills the process as soon as it says that it has started a refresh, if no other process was killed for the order.
    func dieInRefresh(_ order: KillOrder, index: Int) { state.withLockedValue { $0.order = (order, index) } }

    /// Kills the process.
    func kill() { program.kill() }

    /// Waits until the process has ended.
    func end() async -> SpawnedProgram.End {
        let end = await program.end
        await reading.value
        return end
    }

    /// Asks the process to end by itself, and waits until it has.
    ///
    /// - Returns: How many requests it has sent; `nil` if it did not end by itself.
    func stop() async -> Int? {
        program.kill(SIGTERM)
        _ = await end()
        return state.withLockedValue(\.count)
    }
}

/// Kills one of several processes.
final class KillOrder: Sendable {
    private let taken = NIOLockedValueBox<Int?>(nil)

    /// The process that is killed; `nil` as long as there is none.
    var victim: Int? { taken.withLockedValue { $0 } }

    /// - Returns: Whether the process is the one that is killed.
    func take(_ index: Int) -> Bool {
        taken.withLockedValue { taken in
            guard taken == nil else { return false }
            taken = index
            return true
        }
    }
}

/// Waits until something is so, for at most a time.
///
/// - Returns: Whether it is so.
func wait(atMost limit: Duration, until isSo: () -> Bool) async -> Bool {
    let clock = SystemTimeSource()
    let end = clock.uptime + limit
    while !isSo() {
        guard clock.uptime < end else { return false }
        try? await clock.sleep(until: clock.uptime + .milliseconds(50))
    }
    return true
}
