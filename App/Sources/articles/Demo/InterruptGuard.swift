import Foundation
import UnixSignals

/// Removes a folder when the process is told to end, and ends it.
struct InterruptGuard {
    private let watch: Task<Void, Never>

    /// Begins to listen for SIGINT and SIGTERM; once it returns, none is missed.
    init(removing folder: TemporaryFolder) async {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        watch = Task {
            for await signal in signals {
                folder.remove()
                exit(128 + signal.rawValue)
            }
        }
    }

    /// Stops listening.
    func end() {
        watch.cancel()
    }
}
