#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives

/// The output lines of processes, for a test to wait for.
final class Journal: Sendable {
    private struct Watcher {
        let isWanted: @Sendable (String) -> Bool
        var missing: Int
        let race: Race<Bool>
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
        for watcher in satisfied { watcher.race.end(true) }
    }

    /// Ends the journal, and every wait.
    func close() {
        let unsatisfied = state.withLock { state in
            state.isClosed = true
            defer { state.watchers = [] }
            return state.watchers
        }
        for watcher in unsatisfied { watcher.race.end(false) }
    }

    /// Waits until a number of lines match.
    ///
    /// - Returns: `false` if the journal was closed first, which a cancelled wait does.
    func waitFor(
        _ count: Int = 1,
        after start: Int = 0,
        where isWanted: @escaping @Sendable (String) -> Bool
    ) async -> Bool {
        let race = Race<Bool>()
        state.withLock { state in
            let missing = count - state.lines.dropFirst(start).count(where: isWanted)
            if missing <= 0 || state.isClosed {
                race.end(missing <= 0)
            } else {
                state.watchers.append(Watcher(isWanted: isWanted, missing: missing, race: race))
            }
        }
        return await withTaskCancellationHandler {
            await race.value()
        } onCancel: {
            close()
        }
    }
}
#endif
