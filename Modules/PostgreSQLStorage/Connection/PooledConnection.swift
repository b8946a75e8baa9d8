#if PostgreSQL
import ConcurrencyPrimitives
import Storage

/// A connection that opens at its first use, and again after a loss. It runs on a dedicated thread.
///
/// ``ConnectionPool`` lends it to one caller at a time.
final class PooledConnection: @unchecked Sendable {  // `connection` is used on the queue only, by one call at a time
    /// libpq counts the time to connect in whole seconds, at least two.
    private static let shortestConnect: Duration = .seconds(2)

    private let address: ConnectionString
    private let limits: PostgreSQLLimits
    private let reconnecting: ReconnectBackoff
    private let queue = BlockingQueue(label: "token-database")
    private let deadline = Locked<ContinuousClock.Instant?>(nil)
    private var connection: PostgreSQLConnection?

    init(_ address: ConnectionString, limits: PostgreSQLLimits, reconnecting: ReconnectBackoff) {
        self.address = address
        self.limits = limits
        self.reconnecting = reconnecting
    }

    /// The end of the call that borrows the connection, for all that it waits for: connecting and each response.
    func end(at deadline: ContinuousClock.Instant?) { self.deadline.withLock { $0 = deadline } }

    /// Runs statements, to their end even when the task is cancelled.
    ///
    /// A lost connection may not be noticed before it is used. Then the statements run once more on a new one, unless
    /// they may have taken effect already.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable (PostgreSQLConnection) throws(PostgreSQLFailure) -> Value
    ) async throws(PostgreSQLFailure) -> Value {
        let deadline = deadline.withLock { $0 }
        return try await queue.run { [self] () throws(PostgreSQLFailure) in
            guard let open = usableConnection(until: deadline) else { return try work(reconnect(until: deadline)) }
            do throws(PostgreSQLFailure) {
                return try work(open)
            } catch {
                let hasTime = deadline.map { $0 - .now >= Self.shortestConnect } ?? true
                guard open.isBroken, !error.isUncertain, hasTime else { throw error }
                return try work(reconnect(until: deadline))
            }
        }
    }

    /// Runs statements in the transaction that is open on the connection; `lost` when both have been lost since.
    func continueRun<Value: Sendable>(
        _ work: @escaping @Sendable (PostgreSQLConnection) throws(PostgreSQLFailure) -> Value
    ) async throws(PostgreSQLFailure) -> Value {
        let deadline = deadline.withLock { $0 }
        return try await queue.run { [self] () throws(PostgreSQLFailure) in
            guard let open = usableConnection(until: deadline) else { throw PostgreSQLFailure(kind: .lost) }
            return try work(open)
        }
    }

    private func usableConnection(until deadline: ContinuousClock.Instant?) -> PostgreSQLConnection? {
        if connection?.isBroken == true { connection = nil }
        connection?.deadline = deadline
        return connection
    }

    private func reconnect(until deadline: ContinuousClock.Instant?) throws(PostgreSQLFailure) -> PostgreSQLConnection {
        connection = nil
        var limits = limits
        if let deadline { limits.connect = min(max(deadline - .now, Self.shortestConnect), limits.connect) }
        let opened = try reconnecting.attempt { () throws(PostgreSQLFailure) in
            try PostgreSQLConnection.open(address, limits: limits)
        }
        opened.deadline = deadline
        connection = opened
        return opened
    }
}
#endif
