import Foundation
import NIOConcurrencyHelpers
import UnixSignals

/// Ctrl-C and SIGTERM in a command that records its requests, or has a temporary folder: the command is cancelled, what
/// was recorded is written, and the process ends by the signal, as it does without either. A second signal ends it at
/// once.
final class Interruption: Sendable {
    /// That of the command that runs.
    @TaskLocal static var current: Interruption?

    /// How long a cancelled command may take to end.
    private static let grace = Duration.seconds(2)

    private struct State {
        var command: Task<ExitStatus, Never>?
        var signal: Int32?
        var watcher: Task<Void, Never>?
    }

    private let state = NIOLockedValueBox(State())

    /// Runs a command that ``trap(_:)`` can cancel.
    static func run(_ command: @escaping @Sendable () async -> ExitStatus) async -> ExitStatus {
        let interruption = Interruption()
        let task = Task { await $current.withValue(interruption) { await command() } }
        interruption.state.withLockedValue { $0.command = task }
        return await task.value
    }

    /// Whether a signal has arrived.
    var hasSignal: Bool { state.withLockedValue { $0.signal != nil } }

    /// Starts to wait for a signal. Once it returns, none is missed.
    ///
    /// - Parameter write: Writes what was recorded, or cleans up, if the command does not end in time.
    func trap(_ write: @escaping @Sendable () -> Void) async {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let watcher = Task.detached {
            for await signal in signals {
                // The next one ends the process.
                self.restoreDefaults()
                let command = self.state.withLockedValue { state in
                    state.signal = signal.rawValue
                    return state.command
                }
                command?.cancel()
                try? await Task.sleep(for: Self.grace)
                write()
                self.end()
            }
        }
        state.withLockedValue { $0.watcher = watcher }
    }

    /// Ends the process by the signal that has arrived, if one has.
    func end() {
        guard let signal = state.withLockedValue(\.signal) else { return }
        restoreDefaults()
        // To this thread, which lets it in: a signal to the process may be read by the source that waits for signals.
        var own = sigset_t()
        sigemptyset(&own)
        sigaddset(&own, signal)
        pthread_sigmask(SIG_UNBLOCK, &own, nil)
        raise(signal)
        exit(128 + signal)
    }

    /// Stops waiting.
    func stop() {
        guard let watcher = state.withLockedValue({ $0.signal == nil ? $0.watcher : nil }) else { return }
        watcher.cancel()
        restoreDefaults()
    }

    private func restoreDefaults() {
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    }
}
