package import ConcurrencyPrimitives

/// Calls closures when their time has come. One task sleeps for all of them.
///
/// **Sleep.** The clock goes on while the device sleeps or the process is stopped, and nothing is read meanwhile: what
/// has arrived lies in the sockets, and all deadlines are overdue at once when the process continues. So a deadline
/// that is noticed much too late is held back until the process has run for the grace (G8). The queue looks once a
/// second in the last part of a wait, so that it sees a sleep that has ended shortly before the deadline too. A later
/// sleep prolongs the grace by a second, and the ``maximumSleeps``th ends it.
///
/// - Complexity: Adding and removing are O(1). Each wake is O(*n*) in the number of deadlines.
package final class DeadlineQueue: Sendable {
    private struct Entry {
        let deadline: Duration
        let action: @Sendable () -> Void
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var lastID: UInt64 = 0
        var wakesAt: Duration?
        var sleeper: Task<Void, Never>?
        /// Until when deadlines are held back, because the process has slept.
        var heldUntil: Duration?
        /// How often it has slept since they are held back.
        var sleeps = 0
    }

    /// How often the process may sleep while deadlines are held back.
    package static let maximumSleeps = 20
    /// The grace of the token engine.
    package static let defaultGrace: Duration = .seconds(5)
    /// How often the queue looks in the last part of a wait. What is noticed later than this shows a sleep.
    private static let look: Duration = .seconds(1)

    package let clock: any TimeSource
    private let grace: Duration
    private let state = Locked(State())

    /// Creates an empty queue.
    package init(clock: any TimeSource, grace: Duration = DeadlineQueue.defaultGrace) {
        self.clock = clock
        self.grace = max(grace, .zero)
    }

    deinit { state.withLock { $0.sleeper }?.cancel() }

    /// Adds a closure. It is called once, outside the lock, on any thread, and must not block.
    package func add(at deadline: Duration, _ action: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            state.entries[state.lastID] = Entry(deadline: deadline, action: action)
            arm(&state, for: deadline)
            return state.lastID
        }
    }

    /// Removes a closure that was not called.
    package func remove(_ id: UInt64) {
        // What the closure holds is released outside the lock: it may remove a closure of its own.
        _ = state.withLock { state in state.entries.removeValue(forKey: id) }
    }

    private func wake() {
        let now = clock.uptime
        let due = state.withLock { state in
            let planned = state.wakesAt ?? now
            (state.wakesAt, state.sleeper) = (nil, nil)
            let hasSlept = planned + Self.look < now
            if let end = state.heldUntil, end < planned || (end == planned && !hasSlept) {
                (state.heldUntil, state.sleeps) = (nil, 0)
            }
            if hasSlept { recordSleep(&state, at: now) }
            let due = state.entries
                .filter { $0.value.deadline <= now && state.heldUntil == nil }
                .sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
            for (id, _) in due { state.entries[id] = nil }
            if let first = state.entries.values.map(\.deadline).min() { arm(&state, for: first, at: now) }
            return due
        }
        for (_, entry) in due { entry.action() }
    }

    private func recordSleep(_ state: inout State, at now: Duration) {
        state.sleeps += 1
        if state.sleeps >= Self.maximumSleeps {
            (state.heldUntil, state.sleeps) = (nil, 0)
        } else {
            state.heldUntil = max(state.heldUntil ?? now + grace, now + min(Self.look, grace))
        }
    }

    /// Makes the task sleep no longer than to a deadline, and look before.
    private func arm(_ state: inout State, for deadline: Duration, at now: Duration? = nil) {
        if let wakesAt = state.wakesAt, wakesAt <= deadline - grace { return }
        let now = now ?? clock.uptime
        // It has passed while no one waited for it.
        if deadline + Self.look < now, state.heldUntil == nil, state.wakesAt == nil { recordSleep(&state, at: now) }
        let end = max(deadline, state.heldUntil ?? deadline)
        let next = end - grace > now ? end - grace : min(end, now + Self.look)
        if let wakesAt = state.wakesAt, wakesAt <= next { return }
        state.sleeper?.cancel()
        state.wakesAt = next
        state.sleeper = Task { [clock, weak self] in
            guard (try? await clock.sleep(until: next)) != nil else { return }
            self?.wake()
        }
    }
}

extension DeadlineQueue {
    /// Runs work in a task of its own, and stops waiting for it at a deadline, on the uptime of the clock, or when the
    /// caller is cancelled. The work is cancelled then, and a value that it returns is dropped. `prolonged` says at the
    /// deadline until when it is prolonged; `nil`: not at all. Work that ends without a suspension costs a task, and no
    /// timer. Other work costs a switch between threads too, so only what may ignore its cancellation is run so.
    ///
    /// - Throws: What the work throws; the error of `expired`; `CancellationError` at once when the task is cancelled.
    package func limit<Value: Sendable>(
        _ deadline: Duration?, prolonged: @escaping @Sendable () -> Duration? = { nil },
        expired: @escaping @Sendable () -> any Error, dropped: @escaping @Sendable (Value) -> Void = { _ in },
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        // The task of the work does not know that the caller is cancelled.
        try Task.checkCancellation()
        let race = Race<Result<Value, any Error>>()
        let task = Self.start {
            do {
                let value = try await work()
                if !race.end(.success(value)) { dropped(value) }
            } catch {
                race.end(.failure(error))
            }
        }
        if let result = race.outcome { return try result.get() }
        let timer = Locked<UInt64?>(nil)
        @Sendable func arm(_ deadline: Duration) {
            let added = add(at: deadline) {
                if let later = prolonged() { return arm(later) }
                race.end(.failure(expired()))
                task.cancel()
            }
            timer.withLock { $0 = added }
        }
        if let deadline { arm(deadline) }
        defer { if let added = timer.withLock({ $0 }) { remove(added) } }
        return try await withTaskCancellationHandler {
            await race.value()
        } onCancel: {
            race.end(.failure(CancellationError()))
            task.cancel()
        }.get()
    }

    /// Starts on this thread, where the system can, up to the first suspension.
    private static func start(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { return Task.immediate { await work() } }
        return Task { await work() }
    }
}
