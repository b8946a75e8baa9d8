#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives
import Storage

/// A connection that opens at its first use, and again after a loss. It runs on a dedicated thread.
///
/// ``ConnectionPool`` lends it to one caller at a time.
final class PooledConnection: Sendable {
    private let state: State
    private let queue = BlockingQueue(label: "token-database")
    private let deadline = Locked<ContinuousClock.Instant?>(nil)

    init(_ connection: ConnectionString, limits: PostgreSQLLimits, reconnecting: ReconnectBackoff) {
        state = State(connectLimit: limits.connect) { limit throws(PostgreSQLFailure) in
            try reconnecting.attempt { () throws(PostgreSQLFailure) in
                var limits = limits
                limits.connect = limit
                return try PostgreSQLConnection.open(connection, limits: limits)
            }
        }
    }

    /// The end of the call that borrows the connection, for all that it waits for: connecting and each response.
    func end(at deadline: ContinuousClock.Instant?) {
        self.deadline.withLock { $0 = deadline }
    }

    /// Runs statements, to their end even when the task is cancelled.
    ///
    /// A lost connection may not be noticed before it is used. Then the statements run once more on a new one, unless
    /// they may have taken effect already.
    ///
    /// - Parameter work: Runs the statements. It may be called twice.
    /// - Returns: What `work` returns.
    /// - Throws: ``PostgreSQLFailure``.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable (PostgreSQLConnection) throws(PostgreSQLFailure) -> Value
    ) async throws(PostgreSQLFailure) -> Value {
        let deadline = deadline.withLock { $0 }
        return try await queue.run { [state] () throws(PostgreSQLFailure) in
            guard let open = state.usableConnection(until: deadline) else {
                return try work(state.reconnect(until: deadline))
            }
            do throws(PostgreSQLFailure) {
                return try work(open)
            } catch {
                guard open.isBroken, !error.isUncertain, state.mayReconnect(until: deadline) else { throw error }
                return try work(state.reconnect(until: deadline))
            }
        }
    }

    /// Runs statements in the transaction that is open on the connection.
    ///
    /// - Throws: ``PostgreSQLFailure``, of kind `lost` when the connection and its transaction have been lost since.
    func continueRun<Value: Sendable>(
        _ work: @escaping @Sendable (PostgreSQLConnection) throws(PostgreSQLFailure) -> Value
    ) async throws(PostgreSQLFailure) -> Value {
        let deadline = deadline.withLock { $0 }
        return try await queue.run { [state] () throws(PostgreSQLFailure) in
            guard let open = state.usableConnection(until: deadline) else { throw PostgreSQLFailure(kind: .lost) }
            return try work(open)
        }
    }

    private final class State: @unchecked Sendable {  // used on the connection's queue only, one call at a time
        /// libpq counts the time to connect in whole seconds, at least two.
        private static let shortestConnect: Duration = .seconds(2)

        private let connectLimit: Duration
        private let open: @Sendable (Duration) throws(PostgreSQLFailure) -> PostgreSQLConnection
        private var connection: PostgreSQLConnection?

        init(
            connectLimit: Duration,
            open: @escaping @Sendable (Duration) throws(PostgreSQLFailure) -> PostgreSQLConnection
        ) {
            self.connectLimit = connectLimit
            self.open = open
        }

        func usableConnection(until deadline: ContinuousClock.Instant?) -> PostgreSQLConnection? {
            if connection?.isBroken == true { connection = nil }
            connection?.deadline = deadline
            return connection
        }

        /// Whether a second connection can be made in the time that is left.
        func mayReconnect(until deadline: ContinuousClock.Instant?) -> Bool {
            deadline.map { $0 - .now >= Self.shortestConnect } ?? true
        }

        func reconnect(until deadline: ContinuousClock.Instant?) throws(PostgreSQLFailure) -> PostgreSQLConnection {
            connection = nil
            let left = deadline.map { max($0 - .now, Self.shortestConnect) }
            let opened = try open(left.map { min($0, connectLimit) } ?? connectLimit)
            opened.deadline = deadline
            connection = opened
            return opened
        }
    }
}

#endif
