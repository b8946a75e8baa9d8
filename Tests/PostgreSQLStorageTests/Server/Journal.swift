#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives

/// The output lines of processes, for a test to wait for.
final class Journal: Sendable {
    private struct Watcher {
        let isWanted: @Sendable (String) -> Bool
        var missing: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var lines: [String] = []
        var isClosed = false
        var watchers: [Watcher] = []
    }

    private let state = Locked(State())

    /// The lines so far.
    var lines: [String] { state.withLock { $0.lines } }

    func append(_ line: String) {
        let satisfied: [Watcher] = state.withLock { state in
            state.lines.append(line)
            for index in state.watchers.indices where state.watchers[index].isWanted(line) {
                state.watchers[index].missing -= 1
            }
            defer { state.watchers.removeAll { $0.missing <= 0 } }
            return state.watchers.filter { $0.missing <= 0 }
        }
        for watcher in satisfied { watcher.continuation.resume(returning: true) }
    }

    /// Ends the journal, and every wait.
    func close() {
        let unsatisfied = state.withLock { state in
            state.isClosed = true
            defer { state.watchers = [] }
            return state.watchers
        }
        for watcher in unsatisfied { watcher.continuation.resume(returning: false) }
    }

    /// Waits until a number of lines match.
    ///
    /// - Returns: `false` if the journal was closed first, which a cancelled wait does.
    func waitFor(
        _ count: Int = 1,
        after start: Int = 0,
        where isWanted: @escaping @Sendable (String) -> Bool
    ) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { watch(for: count, after: start, where: isWanted, $0) }
        } onCancel: {
            close()
        }
    }

    private func watch(
        for count: Int,
        after start: Int,
        where isWanted: @escaping @Sendable (String) -> Bool,
        _ continuation: CheckedContinuation<Bool, Never>
    ) {
        let result: Bool? = state.withLock { state in
            let missing = count - state.lines.dropFirst(start).count(where: isWanted)
            if missing <= 0 { return true }
            if state.isClosed { return false }
            state.watchers.append(Watcher(isWanted: isWanted, missing: missing, continuation: continuation))
            return nil
        }
        if let result { continuation.resume(returning: result) }
    }
}
#endif
