#if PostgreSQL
/// The times a ``PostgreSQLTokenStore`` works with. Every one has a name, a default and a reason.
public struct PostgreSQLLimits: Sendable, Hashable {
    /// How long to wait for a connection, for each address of each host. Counted in whole seconds, 2 at least.
    /// `connect_timeout` in the connection string takes its place.
    public var connect: Duration = .seconds(5)

    /// How long one statement may take (`statement_timeout`). After a second more without an answer the connection is
    /// given up, for a server that cannot be reached cannot say that time is up.
    public var statement: Duration = .seconds(5)

    /// The longest that one lease lasts (`idle_in_transaction_session_timeout`): the server ends it then, whether its
    /// holder hangs, sleeps, or is cut off. It must be longer than a refresh and the save after it may take.
    public var lease: Duration = .seconds(60)

    /// How long a holder may take, after the database server has restarted, to come back and save what it has. Nobody
    /// else is given the lease in that time. It must be longer than the longest pause between two tries to save.
    public var recovery: Duration = .seconds(60)

    /// The pause after the first connection that failed. It doubles with each, up to ``longestReconnectPause``; calls
    /// in the pause fail at once as *unavailable*, so that a fleet does not trample a server that is coming up.
    public var reconnectPause: Duration = .milliseconds(100)

    /// The pause that doubling stops at.
    public var longestReconnectPause: Duration = .seconds(5)

    /// Creates limits with the defaults.
    public init() {}
}

extension Duration {
    /// The duration in whole milliseconds, at least one: to PostgreSQL, zero means no limit at all.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds < Int64(Int32.max) / 1_000 else { return Int64(Int32.max) }
        return max(1, seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    }

    /// The duration in whole seconds, rounded up.
    var wholeSeconds: Int64 { components.attoseconds > 0 ? components.seconds + 1 : components.seconds }
}
#endif
