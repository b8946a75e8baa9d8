#if PostgreSQL
public import ConcurrencyPrimitives

/// The time limits, pauses and sizes of a ``PostgreSQLTokenStore``.
public struct PostgreSQLLimits: Sendable, Hashable {
    /// The most connections of the process for reading and writing, for all accounts. One more listens for changes, if
    /// the server can be reached without a pooler. Of two or more, one is never used for writing.
    public var connections = 4

    /// The most calls that may wait for a connection. Further calls fail at once.
    public var waitingCalls = 20_000

    /// How long one read or update may take, including the wait for a connection or a locked row, and reconnecting.
    public var call: Duration = .seconds(10)

    /// How long opening a connection may take, for each address of each host, in whole seconds, at least 2.
    /// `connect_timeout` in the connection string overrides it.
    public var connect: Duration = .seconds(5)

    /// How long one statement may take (`statement_timeout`). One second later, a connection without a response is
    /// closed, because a server that cannot be reached does not report the timeout.
    public var statement: Duration = .seconds(5)

    /// How long a statement waits for a locked row (`lock_timeout`). Then other accounts can use the connection, and
    /// the statement is tried again after a pause (``rowPolling``).
    public var rowLock: Duration = .milliseconds(20)

    /// The pauses between attempts to lock a row.
    public var rowPolling = Backoff(base: .milliseconds(20), limit: .milliseconds(300), floor: .milliseconds(10))

    /// How long the cipher may take for one session. While it seals, the account's row is locked.
    public var cipher: Duration = .seconds(5)

    /// How long a claim to the lease lasts without being renewed, on the database's clock. Another process can take the
    /// lease of a dead one after this time.
    public var claim: Duration = .seconds(20)

    /// How often a claim is renewed while its lease is held. Less than half of ``claim``.
    public var heartbeat: Duration = .seconds(5)

    /// The pauses between attempts to take a lease that another process has, if no connection listens for its release.
    public var leasePolling = Backoff(base: .milliseconds(20), limit: .milliseconds(500), floor: .milliseconds(10))

    /// The longest pause between two reads of the watched rows, if no connection listens for changes. Each pause is a
    /// random time between half of it and all of it.
    public var changePolling: Duration = .seconds(2)

    /// The pauses after failed attempts to connect. Calls during a pause fail at once as *unavailable*, so that a fleet
    /// does not overload a server that is starting.
    public var reconnection = Backoff(base: .milliseconds(100), limit: .seconds(2), floor: .milliseconds(50))

    /// Creates limits with the defaults.
    public init() {}
}

extension Duration {
    /// The duration in whole milliseconds, at least one: PostgreSQL reads zero as no limit.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds < Int64(Int32.max) / 1_000 else { return Int64(Int32.max) }
        return max(1, seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    }

    /// The duration in whole seconds, rounded up.
    var wholeSeconds: Int64 { components.attoseconds > 0 ? components.seconds + 1 : components.seconds }
}
#endif
