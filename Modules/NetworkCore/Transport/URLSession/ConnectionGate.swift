import ConcurrencyPrimitives

/// Limits the number of exchanges at a time, in order of arrival.
final class ConnectionGate: Sendable {
    private struct State {
        var free: Int
        var waiters: [(id: Int, continuation: CheckedContinuation<Void, any Error>)] = []
        var nextID = 0
        /// Waiters that were cancelled before they started to wait.
        var cancelled: Set<Int> = []
    }

    private let state: Locked<State>

    init(limit: Int) {
        state = Locked(State(free: limit))
    }

    /// Waits for a free place. The caller must then call ``leave()``.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first. No place is taken then.
    func enter() async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        defer { state.withLock { _ = $0.cancelled.remove(id) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.contains(id) { return .failure(CancellationError()) }
                    if state.free == 0 {
                        state.waiters.append((id, continuation))
                        return nil
                    }
                    state.free -= 1
                    return .success(())
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> CheckedContinuation<Void, any Error>? in
                guard let index = state.waiters.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return state.waiters.remove(at: index).continuation
            }
            waiter?.resume(throwing: CancellationError())
        }
    }

    /// Frees a place for the next waiter.
    func leave() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard !state.waiters.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiters.removeFirst().continuation
        }
        waiter?.resume()
    }
}
