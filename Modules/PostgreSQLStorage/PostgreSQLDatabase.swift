#if PostgreSQL
import ConcurrencyPrimitives

/// The state that all accounts of a process in one table share: the connections and the change feed.
final class PostgreSQLDatabase: Sendable {
    let table: PostgreSQLTable
    let pool: ConnectionPool
    let changes: ChangeFeed

    var limits: PostgreSQLLimits { pool.limits }
    var clock: any TimeSource { pool.clock }

    init(
        connection: ConnectionString, listeningAt direct: ConnectionString, table: PostgreSQLTable,
        limits: PostgreSQLLimits, clock: any TimeSource
    ) {
        self.table = table
        pool = ConnectionPool(connection, limits: limits, clock: clock)
        changes = ChangeFeed(watching: ChangeWatch(connection: direct, table: table, pool: pool))
    }

    /// Calls a closure until it succeeds, for `PostgreSQLLimits.call` at most.
    ///
    /// It is called again after a pause when another transaction has locked the row, and when the connection was lost
    /// during a commit or after a decision, which must be written.
    func attempt<Value: Sendable>(
        until deadline: Duration? = nil, isDecided: () -> Bool = { false },
        _ body: (_ deadline: Duration) async throws -> Value
    ) async throws -> Value {
        let deadline = deadline ?? clock.uptime + limits.call
        var failures = 0
        var isUncertain = false
        while true {
            do {
                return try await body(deadline)
            } catch var failure as PostgreSQLFailure {
                isUncertain = isUncertain || failure.isUncertain
                let isWorthwhile = failure.isLockTimeout || failure.isOutage && (isUncertain || isDecided())
                failures += 1
                var pause = limits.rowPolling.delay(afterFailures: failures)
                if case .pausing(let rest) = failure.kind { pause = max(pause, rest) }
                guard isWorthwhile, clock.uptime + pause < deadline else {
                    failure.isUncertain = isUncertain
                    throw failure.storeError
                }
                try await clock.sleep(until: clock.uptime + pause)
            }
        }
    }

    /// Runs statements as a transaction that may be run twice.
    @discardableResult
    func write<Value: Sendable>(
        isDurable: Bool = true, _ body: @escaping @Sendable (PostgreSQLConnection) throws(PostgreSQLFailure) -> Value
    ) async throws -> Value {
        try await attempt { deadline in
            try await pool.transaction(for: .writing, until: deadline, isDurable: isDurable, body)
        }
    }

    /// Creates the table if it does not exist. Programs that do so at once wait for each other: with `IF NOT EXISTS`
    /// alone one of them could fail.
    func prepare() async throws {
        let key: Int64 = 0x6C61_7463_686B_6579
        let lock = PostgreSQLStatement(text: "SELECT pg_advisory_xact_lock($1)::text", values: [.integer(key)])
        let definition = table.definition
        try await write { open throws(PostgreSQLFailure) in
            try open.execute(lock)
            try open.execute(script: definition)
        }
    }
}
#endif
