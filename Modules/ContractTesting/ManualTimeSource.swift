public import ConcurrencyPrimitives
public import Foundation

/// A monotonic clock and a wall clock that stand still until a test moves them.
///
/// ``advance(by:)`` moves both, ``setDate(_:)`` the wall clock only, as a user does. ``advance(asleep:)`` is a sleep of
/// the device. A sleeping task wakes when the monotonic clock reaches its deadline, and ``sleepers(atLeast:)`` waits
/// until tasks sleep.
public final class ManualTimeSource: TimeSource {
    private typealias Sleepers = [Int: (deadline: Duration, turn: Turn<Void>)]

    private struct State {
        var uptime: Duration
        var date: Date
        var asleep: Duration = .zero
        var nextID = 0
        var sleepers: Sleepers = [:]
        var watchers: [(isMet: @Sendable (Sleepers) -> Bool, turn: Turn<Void>)] = []
    }

    private let state: Locked<State>

    /// Creates the clocks.
    public init(uptime: Duration = .seconds(1_000), date: Date = Date(timeIntervalSince1970: 1_800_000_000)) {
        state = Locked(State(uptime: uptime, date: date))
    }

    /// The time of the monotonic clock.
    public var uptime: Duration { state.withLock { $0.uptime } }

    /// The time of the wall clock.
    public var date: Date { state.withLock { $0.date } }

    /// How much of ``uptime`` the device has slept.
    public var asleep: Duration { state.withLock { $0.asleep } }

    /// Advances both clocks, and wakes the tasks whose deadline is reached, in the order of the deadlines.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.uptime += duration
            state.date += duration / .seconds(1)
            let due = state.sleepers.filter { $0.value.deadline <= state.uptime }
            for id in due.keys { state.sleepers[id] = nil }
            return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }.map(\.value.turn)
        }
        for turn in woken { turn.end(.success(())) }
    }

    /// Advances both clocks, as while the device sleeps.
    public func advance(asleep duration: Duration) {
        state.withLock { $0.asleep += duration }
        advance(by: duration)
    }

    /// Advances both clocks as soon as a task sleeps that is to wake then, however many others sleep.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first, as the time limit of a test does.
    public func advance(toTimerIn duration: Duration) async throws {
        try await timer(in: duration)
        advance(by: duration)
    }

    /// Waits until a task sleeps that is to wake so long from now, however many others sleep.
    package func timer(in duration: Duration) async throws {
        let deadline = uptime + duration
        try await sleepers { $0.values.contains { $0.deadline == deadline } }
    }

    /// Advances both clocks as soon as a number of tasks sleep, where no others do.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    package func advance(by duration: Duration, whenAsleep count: Int) async throws {
        try await sleepers(atLeast: count)
        advance(by: duration)
    }

    /// Sets the wall clock. The monotonic clock does not change.
    public func setDate(_ date: Date) { state.withLock { $0.date = date } }

    /// Waits until an instant of ``uptime``. For one that has passed, the call returns immediately.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func sleep(until deadline: Duration) async throws {
        let turn = Turn<Void>()
        let (id, watchers) = state.withLock { state -> (Int, [Turn<Void>]) in
            state.nextID += 1
            if state.uptime >= deadline {
                turn.end(.success(()))
            } else if Task.isCancelled {
                // It does not count as a sleeper.
                turn.end(.failure(CancellationError()))
            } else {
                state.sleepers[state.nextID] = (deadline, turn)
                let sleepers = state.sleepers
                defer { state.watchers.removeAll { $0.isMet(sleepers) } }
                return (state.nextID, state.watchers.filter { $0.isMet(sleepers) }.map(\.turn))
            }
            return (state.nextID, [])
        }
        for watcher in watchers { watcher.end(.success(())) }
        try await withTaskCancellationHandler {
            await turn.value()
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id)?.turn }?.end(.failure(CancellationError()))
        }.get()
    }

    /// Waits until a number of tasks sleep. Where others do, ``advance(toTimerIn:)`` names the one that is meant.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func sleepers(atLeast count: Int) async throws { try await sleepers { $0.count >= count } }

    private func sleepers(until isMet: @escaping @Sendable (Sleepers) -> Bool) async throws {
        let turn = Turn<Void>()
        state.withLock { state in
            if isMet(state.sleepers) { turn.end(.success(())) } else { state.watchers.append((isMet, turn)) }
        }
        try await turn.valueUnlessCancelled()
    }
}
