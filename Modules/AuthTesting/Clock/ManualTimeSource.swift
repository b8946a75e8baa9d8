import AuthInterface
public import ConcurrencyPrimitives
public import Foundation

/// Clocks that stand still until a test moves them.
///
/// The two hands move apart on purpose: ``advance(by:)`` lets time pass, ``setDate(_:)`` is a user who sets the clock.
/// A task that sleeps on it wakes when time has passed its deadline, and ``sleepers(atLeast:)`` waits until a task
/// sleeps, so that a test never has to guess.
public final class ManualTimeSource: TimeSource {
    private struct State {
        var uptime: Duration
        var date: Date
        var nextID = 0
        var sleepers: [Int: (deadline: Duration, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state: Locked<State>

    /// Creates clocks that stand still.
    ///
    /// - Parameters:
    ///   - uptime: What the monotonic clock shows.
    ///   - date: What the wall clock shows.
    public init(uptime: Duration = .seconds(1_000), date: Date = Date(timeIntervalSince1970: 1_800_000_000)) {
        state = Locked(State(uptime: uptime, date: date))
    }

    /// What the monotonic clock shows.
    public var uptime: Duration { state.withLock { $0.uptime } }

    /// What the wall clock shows.
    public var date: Date { state.withLock { $0.date } }

    /// Lets time pass on both clocks and wakes whoever has slept long enough.
    ///
    /// - Parameter duration: How much time passes.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.uptime += duration
            state.date += duration / .seconds(1)
            let due = state.sleepers.filter { $0.value.deadline <= state.uptime }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.sorted { $0.deadline < $1.deadline }.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    /// Sets the wall clock, as a user does. The monotonic clock does not notice.
    ///
    /// - Parameter date: What the wall clock shows from now on.
    public func setDate(_ date: Date) {
        state.withLock { $0.date = date }
    }

    /// Waits until an instant of ``uptime``.
    ///
    /// - Parameter deadline: The instant. One that has passed returns at once.
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func sleep(until deadline: Duration) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                register(id, deadline: deadline, continuation: continuation)
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id)?.continuation }?.resume(throwing: CancellationError())
        }
    }

    /// Waits until a number of tasks sleep.
    ///
    /// - Parameter count: How many.
    public func sleepers(atLeast count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.sleepers.count >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    private func register(_ id: Int, deadline: Duration, continuation: CheckedContinuation<Void, any Error>) {
        enum Outcome { case due, cancelled, sleeping }
        let (outcome, watchers) = state.withLock { state in
            if state.uptime >= deadline { return (Outcome.due, [CheckedContinuation<Void, Never>]()) }
            // The handler of a task that was cancelled before this line found nothing to wake.
            if Task.isCancelled { return (.cancelled, []) }
            state.sleepers[id] = (deadline, continuation)
            let asleep = state.sleepers.count
            let content = state.watchers.filter { $0.count <= asleep }.map(\.continuation)
            state.watchers.removeAll { $0.count <= asleep }
            return (.sleeping, content)
        }
        switch outcome {
        case .due: continuation.resume()
        case .cancelled: continuation.resume(throwing: CancellationError())
        case .sleeping: for watcher in watchers { watcher.resume() }
        }
    }
}
