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

    init(_ connection: ConnectionString, limits: PostgreSQLLimits, reconnecting: ReconnectBackoff) {
        state = State { () throws(PostgreSQLFailure) in
            try reconnecting.attempt { () throws(PostgreSQLFailure) in
                try PostgreSQLConnection.open(connection, limits: limits)
            }
        }
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
        try await queue.run { [state] () throws(PostgreSQLFailure) in
            guard let open = state.usableConnection else { return try work(state.reconnect()) }
            do throws(PostgreSQLFailure) {
                return try work(open)
            } catch {
                guard open.isBroken, !error.isUncertain else { throw error }
                return try work(state.reconnect())
            }
        }
    }

    /// Runs statements in the transaction that is open on the connection.
    ///
    /// - Throws: ``PostgreSQLFailure``, of kind `lost` when the connection and its transaction have been lost since.
    func continueRun<Value: Sendable>(
        _ work: @escaping @Sendable (PostgreSQLConnection) throws(PostgreSQLFailure) -> Value
    ) async throws(PostgreSQLFailure) -> Value {
        try await queue.run { [state] () throws(PostgreSQLFailure) in
            guard let open = state.usableConnection else { throw PostgreSQLFailure(kind: .lost) }
            return try work(open)
        }
    }

    private final class State: @unchecked Sendable {  // used on the connection's queue only, one call at a time
        private let open: @Sendable () throws(PostgreSQLFailure) -> PostgreSQLConnection
        private var connection: PostgreSQLConnection?

        init(open: @escaping @Sendable () throws(PostgreSQLFailure) -> PostgreSQLConnection) {
            self.open = open
        }

        var usableConnection: PostgreSQLConnection? {
            if connection?.isBroken == true { connection = nil }
            return connection
        }

        func reconnect() throws(PostgreSQLFailure) -> PostgreSQLConnection {
            connection = nil
            let opened = try open()
            connection = opened
            return opened
        }
    }
}

#endif
