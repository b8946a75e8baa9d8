import Foundation
import UnixSignals

/// Removes a folder and ends the process on SIGINT and SIGTERM.
struct InterruptGuard {
    private let signalTask: Task<Void, Never>

    /// Starts to wait for signals. Once it returns, none is missed.
    init(removing folder: TemporaryFolder) async {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        signalTask = Task {
            for await signal in signals {
                folder.remove()
                exit(128 + signal.rawValue)
            }
        }
    }

    /// Stops waiting.
    func cancel() {
        signalTask.cancel()
    }
}
