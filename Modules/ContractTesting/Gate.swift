import ConcurrencyPrimitives

/// Tasks wait at a gate until a test opens it.
///
/// It replaces sleeping: a double waits at a gate in the middle of its work, and the test waits for
/// ``arrivals(atLeast:)``, acts, and opens the gate.
public final class Gate: Sendable {
    private struct State {
        var isOpen: Bool
        var arrivals = 0
        /// Who waits, in order.
        var waiting: [Turn<Void>] = []
        var watchers: [(count: Int, turn: Turn<Void>)] = []
    }

    private let state: Locked<State>

    /// Creates a gate, open or closed.
    public init(isOpen: Bool = false) { state = Locked(State(isOpen: isOpen)) }

    /// The number of tasks that have arrived so far, waiting or not.
    public var arrivals: Int { state.withLock { $0.arrivals } }

    /// Waits until the gate is open, and ignores cancellation: the double of a call that hangs.
    public func pass() async { _ = await arrive().value() }

    /// Waits until the gate is open, or until the task is cancelled.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    package func passUnlessCancelled() async throws {
        try await arrive().valueUnlessCancelled()
        try Task.checkCancellation()
    }

    /// Opens the gate for waiting tasks and for later ones.
    public func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for turn in waiting { turn.end(.success(())) }
    }

    /// Waits until a number of tasks have arrived, from the first one on.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first, as the time limit of a test does.
    public func arrivals(atLeast count: Int) async throws {
        let turn = Turn<Void>()
        state.withLock { state in
            if state.arrivals >= count { turn.end(.success(())) } else { state.watchers.append((count, turn)) }
        }
        try await turn.valueUnlessCancelled()
    }

    private func arrive() -> Turn<Void> {
        let turn = Turn<Void>()
        let reached = state.withLock { state in
            state.arrivals += 1
            let arrivals = state.arrivals
            if state.isOpen { turn.end(.success(())) } else { state.waiting.append(turn) }
            defer { state.watchers.removeAll { $0.count <= arrivals } }
            return state.watchers.filter { $0.count <= arrivals }
        }
        for watcher in reached { watcher.turn.end(.success(())) }
        return turn
    }
}
