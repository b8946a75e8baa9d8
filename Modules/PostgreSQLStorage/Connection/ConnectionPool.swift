#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives

/// The connections that all accounts of a process share.
///
/// A caller has a connection for the milliseconds of one transaction, never while it waits for a lease, another process
/// or the end of a pause. One connection is never used for writing, so that a reader does not wait behind writers that
/// wait for a locked row (G18).
final class ConnectionPool: Sendable {
    enum Use: Sendable { case reading, writing }

    private struct Waiter {
        let use: Use
        let continuation: CheckedContinuation<PooledConnection, any Error>
        let limit: Task<Void, any Error>
    }

    private struct State {
        var idle: [PooledConnection] = []
        var lent = 0
        var lentForWriting = 0
        var issued = 0
        var waiting: [Int: Waiter] = [:]
        var readers = TicketQueue()
        var writers = TicketQueue()
    }

    private let state = Locked(State())
    private let size: Int
    private let limits: PostgreSQLLimits
    private let clock: any TimeSource
    private let makeConnection: @Sendable () -> PooledConnection

    init(_ connection: ConnectionString, limits: PostgreSQLLimits, clock: any TimeSource) {
        size = max(1, limits.connections)
        self.limits = limits
        self.clock = clock
        let reconnecting = ReconnectBackoff(limits.reconnection, clock: clock)
        makeConnection = { PooledConnection(connection, limits: limits, reconnecting: reconnecting) }
    }

    /// The number of calls that wait for a connection now.
    var waitingCalls: Int { state.withLock { $0.waiting.count } }

    /// Lends a connection to a closure.
    ///
    /// - Parameters:
    ///   - use: Whether `body` may lock rows.
    ///   - deadline: The end of the wait for a connection, and of all that `body` waits for on it.
    ///   - body: Uses the connection. No transaction may be open when it returns.
    /// - Returns: What `body` returns.
    /// - Throws: ``TokenStoreError`` with code `busy` when no connection is free in time; `CancellationError` when the
    ///   task is cancelled while it waits; what `body` throws.
    func withConnection<Value: Sendable>(
        for use: Use,
        until deadline: Duration,
        _ body: (PooledConnection) async throws -> Value
    ) async throws -> Value {
        let connection = try await take(for: use, until: deadline)
        connection.end(at: .now + (deadline - clock.uptime))
        defer { giveBack(connection, after: use) }
        return try await body(connection)
    }

    private func take(for use: Use, until deadline: Duration) async throws -> PooledConnection {
        let ticket = state.withLock { state in
            state.issued += 1
            return state.issued
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                wait(ticket, for: use, until: deadline, continuation)
            }
        } onCancel: {
            leave(ticket, throwing: CancellationError())
        }
    }

    private func giveBack(_ connection: PooledConnection, after use: Use) {
        let next: (Waiter, PooledConnection)? = state.withLock { state in
            state.idle.append(connection)
            state.lent -= 1
            if use == .writing { state.lentForWriting -= 1 }
            guard let waiter = firstWaiter(&state) else { return nil }
            return (waiter, lend(for: waiter.use, &state))
        }
        guard let (waiter, connection) = next else { return }
        waiter.limit.cancel()
        waiter.continuation.resume(returning: connection)
    }

    /// Enqueues a caller, unless a connection is free or the task was cancelled in the meantime.
    private func wait(
        _ ticket: Int,
        for use: Use,
        until deadline: Duration,
        _ continuation: CheckedContinuation<PooledConnection, any Error>
    ) {
        let outcome: Result<PooledConnection, any Error>? = state.withLock { state in
            if Task.isCancelled { return .failure(CancellationError()) }
            if canLend(for: use, state) { return .success(lend(for: use, &state)) }
            let isFull = state.waiting.count >= limits.waitingCalls
            guard !isFull, clock.uptime < deadline else { return .failure(noneIsFree(state.waiting.count)) }
            let limit = Task {
                try await clock.sleep(until: deadline)
                leave(ticket, throwing: noneIsFree(nil))
            }
            state.waiting[ticket] = Waiter(use: use, continuation: continuation, limit: limit)
            if use == .reading { state.readers.append(ticket) } else { state.writers.append(ticket) }
            return nil
        }
        if let outcome { continuation.resume(with: outcome) }
    }

    private func leave(_ ticket: Int, throwing error: any Error) {
        guard let waiter = state.withLock({ $0.waiting.removeValue(forKey: ticket) }) else { return }
        waiter.limit.cancel()
        waiter.continuation.resume(throwing: error)
    }

    private func canLend(for use: Use, _ state: State) -> Bool {
        state.lent < size && (use == .reading || state.lentForWriting < max(1, size - 1))
    }

    private func lend(for use: Use, _ state: inout State) -> PooledConnection {
        state.lent += 1
        if use == .writing { state.lentForWriting += 1 }
        return state.idle.popLast() ?? makeConnection()
    }

    /// Removes the first waiter that can get a connection now from the queue.
    private func firstWaiter(_ state: inout State) -> Waiter? {
        let reader = state.readers.first { state.waiting[$0] != nil }
        let writer = canLend(for: .writing, state) ? state.writers.first { state.waiting[$0] != nil } : nil
        guard let ticket = [reader, writer].compactMap(\.self).min() else { return nil }
        return state.waiting.removeValue(forKey: ticket)
    }

    private func noneIsFree(_ waiting: Int?) -> TokenStoreError {
        let others = waiting.map { "; \($0) calls are waiting" } ?? ""
        return TokenStoreError(
            .busy,
            reason: "waited for one of the \(size) connections to the database, and none was free in time\(others)"
        )
    }
}

/// Tickets in the order in which they were issued. Invalid ones are dropped when they become the first.
private struct TicketQueue {
    private var tickets: [Int] = []
    private var start = 0

    mutating func append(_ ticket: Int) { tickets.append(ticket) }

    /// The first valid ticket. It stays in the queue.
    mutating func first(where isValid: (Int) -> Bool) -> Int? {
        while start < tickets.count, !isValid(tickets[start]) { start += 1 }
        if start > 1_000, start * 2 > tickets.count {
            tickets.removeFirst(start)
            start = 0
        }
        return start < tickets.count ? tickets[start] : nil
    }
}
#endif
