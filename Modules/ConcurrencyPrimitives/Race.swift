/// A race between work and what else may decide its outcome: a deadline, a cancellation. The first end counts.
///
/// ```swift
/// let race = Race<Int?>()
/// let work = Task { race.end(await count()) }
/// let timer = Task { try await clock.sleep(until: deadline); race.end(nil) }
/// let outcome = await race.value()
/// ```
///
/// It knows no clock and cancels nothing: who starts the runners stops the losers. One task waits for the outcome.
/// ``TimeSource/withDeadline(_:_:)`` is the race of work with a clock.
@usableFromInline
package final class Race<Outcome: Sendable>: Sendable {
    @usableFromInline
    enum State: Sendable {
        case undecided
        case awaited(CheckedContinuation<Outcome, Never>)
        case decided(Outcome)
    }

    @usableFromInline let state: Locked<State>

    /// Creates a race that nothing has decided.
    @inlinable
    package init() { state = Locked(.undecided) }

    /// How the race was decided; `nil` while it is not.
    @inlinable package var outcome: Outcome? {
        state.withLock { if case .decided(let outcome) = $0 { outcome } else { nil } }
    }

    /// Decides the race, if it is not decided. Returns whether this end was the first; the outcome of another is
    /// dropped.
    @inlinable
    @discardableResult
    package func end(_ outcome: Outcome) -> Bool {
        let before = state.withLock { state in
            defer { if case .decided = state {} else { state = .decided(outcome) } }
            return state
        }
        switch before {
        case .undecided: return true
        case .awaited(let continuation):
            continuation.resume(returning: outcome)
            return true
        case .decided: return false
        }
    }

    /// Waits until the race is decided, cancelled or not.
    @inlinable
    package func value() async -> Outcome {
        await withCheckedContinuation { continuation in
            let outcome: Outcome? = state.withLock { state in
                if case .decided(let outcome) = state { return outcome }
                state = .awaited(continuation)
                return nil
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }

    /// Waits until the race is decided. A cancellation of the task decides it.
    ///
    /// - Throws: The error of the outcome; `CancellationError` when the task is cancelled first.
    package func valueUnlessCancelled<Value: Sendable>() async throws -> Value
    where Outcome == Result<Value, any Error> {
        try await withTaskCancellationHandler {
            await value()
        } onCancel: {
            end(.failure(CancellationError()))
        }.get()
    }
}
