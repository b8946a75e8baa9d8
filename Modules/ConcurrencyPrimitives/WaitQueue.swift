/// Waiters that are served in the order of their arrival, and can leave before.
///
/// It is a value: keep it in a state behind a ``Locked``, take a waiter from it under the lock, and resume the waiter
/// outside. A task waits in one by ``Locked/wait(as:in:until:on:expired:unless:)``:
///
/// ```swift
/// try await state.wait(as: id, in: \.waiting, until: deadline, on: clock, expired: { Busy() }) { $0.takePlace() }
/// …
/// state.withLock { $0.waiting.popFirst() }?.waiter.end(.success(()))
/// ```
///
/// It is inlined into other modules, so that no access looks up types at run time.
///
/// - Complexity: Every operation is O(1), amortised; a search for a waiter that can be served is linear in those before
///   it.
@usableFromInline
package struct WaitQueue<ID: Hashable & Sendable, Waiter: Sendable>: Sendable {
    @usableFromInline var waiters: [ID: (number: Int, waiter: Waiter)] = [:]
    /// Who waits, in order. One that has left is no longer in `waiters` with this number, and is skipped.
    @usableFromInline var order: [(number: Int, id: ID)] = []
    @usableFromInline var start = 0
    @usableFromInline var last = 0

    /// Creates an empty queue.
    package init() {}

    /// How many wait.
    package var count: Int { waiters.count }

    /// Adds a waiter at the end. No other waiter has its id now.
    @inlinable
    package mutating func append(_ waiter: Waiter, for id: ID) {
        last += 1
        waiters[id] = (last, waiter)
        order.append((last, id))
    }

    /// Removes a waiter that leaves. Returns the waiter; `nil` if it does not wait, or no longer.
    @inlinable
    package mutating func remove(_ id: ID) -> Waiter? {
        let removed = waiters.removeValue(forKey: id)
        if order.count > 2 * waiters.count + 64 {
            order.removeAll { waiters[$0.id]?.number != $0.number }
            start = 0
        }
        return removed?.waiter
    }

    /// Removes the first waiter that can be served; `nil` if there is none.
    @inlinable
    package mutating func popFirst(where isServed: (ID) -> Bool = { _ in true }) -> (id: ID, waiter: Waiter)? {
        guard !waiters.isEmpty else { return nil }
        while waiters[order[start].id]?.number != order[start].number { start += 1 }
        for index in start..<order.count where waiters[order[index].id]?.number == order[index].number {
            let id = order[index].id
            if isServed(id) { return remove(id).map { (id, $0) } }
        }
        return nil
    }
}

/// A task that waits for its turn. The code that takes it from a ``WaitQueue`` ends the wait, outside the lock.
package typealias Turn<Served: Sendable> = Race<Result<Served, any Error>>

extension Locked {
    /// Waits in a queue of the value until it is served. A wait whose task is cancelled, and one that has reached its
    /// deadline, leaves the queue and ends at once.
    ///
    /// A task that is cancelled as it is served is served: it has what it must give back.
    ///
    /// - Parameters:
    ///   - id: The number of the waiter, or what else tells it from the others in the queue.
    ///   - queue: The queue.
    ///   - deadline: When the wait ends at the latest, on the uptime of the clock. `nil`: it has no limit.
    ///   - clock: The clock of the deadline.
    ///   - expired: Makes the error at the deadline. It is called outside the lock.
    ///   - ready: Is called once under the lock: takes what the task would wait for, or returns `nil`. The task waits
    ///     then.
    /// - Returns: What it is served.
    /// - Throws: `CancellationError`, the error of `expired`, what `ready` throws.
    package func wait<ID, Served: Sendable>(
        as id: ID,
        in queue: any WritableKeyPath<Value, WaitQueue<ID, Turn<Served>>> & Sendable,
        until deadline: Duration?,
        on clock: any TimeSource,
        expired: @escaping @Sendable () -> any Error,
        unless ready: (inout Value) throws -> Served?
    ) async throws -> Served {
        let turn = Turn<Served>()
        let served = try withLock { value in
            let served = try ready(&value)
            if served == nil { value[keyPath: queue].append(turn, for: id) }
            return served
        }
        if let served { return served }
        @Sendable func leave(throwing error: any Error) {
            withLock { $0[keyPath: queue].remove(id) }?.end(.failure(error))
        }
        let timer = deadline.map { deadline in
            Task {
                try await clock.sleep(until: deadline)
                leave(throwing: expired())
            }
        }
        defer { timer?.cancel() }
        return try await withTaskCancellationHandler {
            await turn.value()
        } onCancel: {
            leave(throwing: CancellationError())
        }.get()
    }
}
