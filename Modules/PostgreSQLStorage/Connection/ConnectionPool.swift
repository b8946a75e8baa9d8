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

    private struct WaiterID: Hashable {
        let number: Int
        let use: Use
    }

    private struct State {
        var idle: [PooledConnection] = []
        var lent = 0
        var lentForWriting = 0
        var issued = 0
        var waiting = WaitQueue<WaiterID, Turn<PooledConnection>>()
    }

    private let state = Locked(State())
    private let size: Int
    let limits: PostgreSQLLimits
    let clock: any TimeSource
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

    /// Lends a connection to a closure, at whose end no transaction may be open. It may lock rows if it is for writing.
    /// The deadline ends the wait for a connection (`busy`), and all that the closure waits for on it.
    func withConnection<Value: Sendable>(
        for use: Use, until deadline: Duration, _ body: (PooledConnection) async throws -> Value
    ) async throws -> Value {
        let connection = try await take(for: use, until: deadline)
        connection.end(at: .now + (deadline - clock.uptime))
        defer { giveBack(connection, after: use) }
        return try await body(connection)
    }

    /// Runs statements as one transaction, as ``PostgreSQLConnection/transaction(isDurable:_:)`` does.
    func transaction<Value: Sendable>(
        for use: Use, until deadline: Duration, isDurable: Bool = true,
        _ body: @escaping @Sendable (PostgreSQLConnection) throws(PostgreSQLFailure) -> Value
    ) async throws -> Value {
        try await withConnection(for: use, until: deadline) { connection in
            try await connection.run { open throws(PostgreSQLFailure) in
                try open.transaction(isDurable: isDurable, body)
            }
        }
    }

    private func take(for use: Use, until deadline: Duration) async throws -> PooledConnection {
        let id = state.withLock { state in
            state.issued += 1
            return WaiterID(number: state.issued, use: use)
        }
        return try await state.wait(as: id, in: \.waiting, until: deadline, on: clock) {
            self.noneIsFree(nil)
        } unless: { state in
            try Task.checkCancellation()
            if canLend(for: use, state) { return lend(for: use, &state) }
            let isFull = state.waiting.count >= limits.waitingCalls
            guard !isFull, clock.uptime < deadline else { throw noneIsFree(state.waiting.count) }
            return nil
        }
    }

    private func giveBack(_ connection: PooledConnection, after use: Use) {
        let next: (Turn<PooledConnection>, PooledConnection)? = state.withLock { state in
            state.idle.append(connection)
            state.lent -= 1
            if use == .writing { state.lentForWriting -= 1 }
            let mayWrite = canLend(for: .writing, state)
            let next = state.waiting.popFirst { $0.use == .reading || mayWrite }
            return next.map { ($0.waiter, lend(for: $0.id.use, &state)) }
        }
        if let (turn, connection) = next { turn.end(.success(connection)) }
    }

    private func canLend(for use: Use, _ state: State) -> Bool {
        state.lent < size && (use == .reading || state.lentForWriting < max(1, size - 1))
    }

    private func lend(for use: Use, _ state: inout State) -> PooledConnection {
        state.lent += 1
        if use == .writing { state.lentForWriting += 1 }
        return state.idle.popLast() ?? makeConnection()
    }

    private func noneIsFree(_ waiting: Int?) -> TokenStoreError {
        let others = waiting.map { "; \($0) calls are waiting" } ?? ""
        return TokenStoreError(
            .busy,
            reason: "waited for one of the \(size) connections to the database, and none was free in time\(others)")
    }
}
#endif
