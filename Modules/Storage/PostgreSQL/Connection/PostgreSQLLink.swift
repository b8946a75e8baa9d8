#if PostgreSQL
import AuthInterface

/// A connection that is opened when it is first needed and again after it was lost, on a thread of its own.
final class PostgreSQLLink: Sendable {
    private let state: State
    private let queue = BlockingQueue(label: "token-database")

    init(place: ConnectionString, limits: PostgreSQLLimits, pacer: ReconnectPacer) {
        state = State { () throws(PostgreSQLFailure) in
            try pacer.attempt { () throws(PostgreSQLFailure) in try PostgreSQLConnection.open(place, limits: limits) }
        }
    }

    /// Does something with the connection, to its end: what a cancelled task has begun to save is saved (G7).
    ///
    /// A connection that was open may have died unnoticed, with the server or for its idleness. That is found out by
    /// using it; then all is done once more on a new one, unless it may have been done already.
    ///
    /// - Parameter work: What to do. It may be called twice.
    /// - Returns: What `work` returns.
    /// - Throws: ``TokenStoreError`` with code `unavailable`.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable (PostgreSQLConnection) throws(PostgreSQLFailure) -> Value
    ) async throws(TokenStoreError) -> Value {
        try await answer { [state] () throws(PostgreSQLFailure) in
            guard let open = state.usableConnection else { return try work(state.reconnect()) }
            do throws(PostgreSQLFailure) {
                return try work(open)
            } catch {
                guard open.isBroken, !error.isUncertain else { throw error }
                return try work(state.reconnect())
            }
        }
    }

    /// Does something with the connection as it is: with the transaction that is open on it.
    ///
    /// - Throws: ``TokenStoreError`` with code `unavailable`, also when the connection has been lost since.
    func continueRun<Value: Sendable>(
        _ work: @escaping @Sendable (PostgreSQLConnection) throws(PostgreSQLFailure) -> Value
    ) async throws(TokenStoreError) -> Value {
        try await answer { [state] () throws(PostgreSQLFailure) in
            guard let open = state.usableConnection else { throw PostgreSQLFailure(kind: .lost) }
            return try work(open)
        }
    }

    private func answer<Value: Sendable>(
        _ work: @escaping @Sendable () throws(PostgreSQLFailure) -> Value
    ) async throws(TokenStoreError) -> Value {
        do {
            return try await queue.run(work)
        } catch {
            throw error.storeError
        }
    }

    private final class State: @unchecked Sendable {  // used on the link's queue only, where one call runs at a time
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
