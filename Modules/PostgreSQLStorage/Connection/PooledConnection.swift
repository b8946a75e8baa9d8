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

/// Pauses between failed attempts to connect, for all connections of a process together.
final class ReconnectBackoff: Sendable {
    private struct State {
        var failures = 0
        var resumption: Duration?
    }

    private let state = Locked(State())
    private let clock: any TimeSource
    private let backoff: Backoff

    init(_ backoff: Backoff, clock: any TimeSource) {
        self.backoff = backoff
        self.clock = clock
    }

    /// Connects, unless the last attempt failed and its pause has not passed.
    ///
    /// - Throws: ``PostgreSQLFailure``, of kind `pausing` when no attempt was made.
    func attempt<Value>(_ connect: () throws(PostgreSQLFailure) -> Value) throws(PostgreSQLFailure) -> Value {
        let now = clock.uptime
        if let resumption = state.withLock({ $0.resumption }), now < resumption {
            throw PostgreSQLFailure(kind: .pausing(resumption - now))
        }
        do {
            let value = try connect()
            state.withLock { $0 = State() }
            return value
        } catch {
            let end = clock.uptime
            state.withLock { state in
                state.failures += 1
                state.resumption = end + backoff.delay(afterFailures: state.failures)
            }
            throw error
        }
    }
}
#endif
