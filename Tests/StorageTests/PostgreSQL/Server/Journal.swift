#if PostgreSQL
import AuthInterface

/// What processes say, line by line, for a test to wait for.
final class Journal: Sendable {
    private struct Watcher {
        let isSatisfied: @Sendable ([String]) -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var lines: [String] = []
        var isClosed = false
        var watchers: [Watcher] = []
    }

    private let state = Locked(State())

    /// What was said so far.
    var lines: [String] { state.withLock { $0.lines } }

    func append(_ line: String) {
        let content: [Watcher] = state.withLock { state in
            state.lines.append(line)
            let lines = state.lines
            let content = state.watchers.filter { $0.isSatisfied(lines) }
            state.watchers.removeAll { $0.isSatisfied(lines) }
            return content
        }
        for watcher in content { watcher.continuation.resume(returning: true) }
    }

    /// Nothing more will be said, or heard. Those who wait are told that it was in vain.
    func close() {
        let disappointed = state.withLock { state in
            state.isClosed = true
            defer { state.watchers = [] }
            return state.watchers
        }
        for watcher in disappointed { watcher.continuation.resume(returning: false) }
    }

    /// Waits until a number of lines are as wanted.
    ///
    /// - Returns: `false` if the journal was closed first, which a cancelled wait does.
    func waitFor(
        _ count: Int = 1,
        after start: Int = 0,
        where isWanted: @escaping @Sendable (String) -> Bool
    ) async -> Bool {
        let isSatisfied: @Sendable ([String]) -> Bool = { lines in
            lines.dropFirst(start).count(where: isWanted) >= count
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { watch(for: isSatisfied, $0) }
        } onCancel: {
            close()
        }
    }

    private func watch(
        for isSatisfied: @escaping @Sendable ([String]) -> Bool,
        _ continuation: CheckedContinuation<Bool, Never>
    ) {
        let answer: Bool? = state.withLock { state in
            if isSatisfied(state.lines) { return true }
            if state.isClosed { return false }
            state.watchers.append(Watcher(isSatisfied: isSatisfied, continuation: continuation))
            return nil
        }
        if let answer { continuation.resume(returning: answer) }
    }
}
#endif
