import Foundation
import NIOConcurrencyHelpers
import UnixSignals

/// Ctrl-C and SIGTERM in a command that records its requests, or has a temporary folder: the command is cancelled, what
/// was recorded is written, and the process ends by the signal, as it does without either. A second signal ends it at
/// once.
final class Interruption: Sendable {
    /// That of the command that runs.
    @TaskLocal private static var current: Interruption?

    /// How long a cancelled command may take to end.
    private static let grace = Duration.seconds(2)

    private struct State {
        var command: Task<ExitStatus, Never>?
        var signal: Int32?
        var ignoresKeys = false
        var conclude: @Sendable () -> Void = {}
        var watcher: Task<Void, Never>?
    }

    private let state = NIOLockedValueBox(State())

    static func run(_ command: @escaping @Sendable () async -> ExitStatus) async -> ExitStatus {
        let interruption = Interruption()
        let task = Task { await $current.withValue(interruption) { await command() } }
        interruption.state.withLockedValue { $0.command = task }
        return await task.value
    }

    /// Runs the part of the command that has something to conclude when a signal arrives: what was recorded is written,
    /// or files are removed. Where it is not needed, a signal ends the process at once.
    ///
    /// `conclude` is called also if the cancelled work does not end in time, and maybe several times.
    static func guarding<Value>(
        if isNeeded: Bool = true, conclude: @escaping @Sendable () -> Void, work: (Interruption?) async throws -> Value
    ) async rethrows -> Value {
        guard isNeeded, let current else { return try await work(nil) }
        await current.trap(conclude)
        defer {
            current.end()
            current.stop()
        }
        return try await work(current)
    }

    /// Waits for a program that has the terminal, as system(3) does: the signals of keys are for that program only.
    static func ignoringKeys(_ work: () -> Bool) -> Bool {
        // On Darwin a source reports the signals that are ignored too.
        current?.state.withLockedValue { $0.ignoresKeys = true }
        let handlers = [SIGINT, SIGQUIT].map { ($0, signal($0, SIG_IGN)) }
        defer {
            for (number, handler) in handlers { signal(number, handler) }
            current?.state.withLockedValue { $0.ignoresKeys = false }
        }
        return work()
    }

    /// Starts to wait for a signal. Once it returns, none is missed.
    private func trap(_ conclude: @escaping @Sendable () -> Void) async {
        state.withLockedValue { $0.conclude = conclude }
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let watcher = Task.detached {
            for await signal in signals {
                guard signal != .sigint || !self.state.withLockedValue(\.ignoresKeys) else { continue }
                // The next one ends the process.
                self.restoreDefaults()
                let command = self.state.withLockedValue { state in
                    state.signal = signal.rawValue
                    return state.command
                }
                command?.cancel()
                try? await Task.sleep(for: Self.grace)
                self.end()
            }
        }
        state.withLockedValue { $0.watcher = watcher }
    }

    var hasSignal: Bool { state.withLockedValue { $0.signal != nil } }

    /// Concludes, and ends the process by the signal that has arrived, if one has.
    func end() {
        let (signal, conclude) = state.withLockedValue { ($0.signal, $0.conclude) }
        guard let signal else { return }
        conclude()
        restoreDefaults()
        // To this thread, which lets it in: a signal to the process may be read by the source that waits for signals.
        var own = sigset_t()
        sigemptyset(&own)
        sigaddset(&own, signal)
        pthread_sigmask(SIG_UNBLOCK, &own, nil)
        raise(signal)
        exit(128 + signal)
    }

    private func stop() {
        guard let watcher = state.withLockedValue({ $0.signal == nil ? $0.watcher : nil }) else { return }
        watcher.cancel()
        restoreDefaults()
    }

    private func restoreDefaults() {
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    }
}
