#if PostgreSQL
public import AuthInterface
import ConcurrencyPrimitives

/// The times and numbers a ``PostgreSQLTokenStore`` works with. Every one has a name, a default and a reason.
public struct PostgreSQLLimits: Sendable, Hashable {
    /// The most connections that all accounts of the process share for reading and writing. One more listens for
    /// changes, where the server can be reached without a pooler. Of two or more, one is never used for writing.
    public var connections = 4

    /// The most calls that may wait for one of the connections at a time. One more fails at once.
    public var waitingCalls = 20_000

    /// How long one read or update may take in all: waiting for a connection, for a locked row, and connecting again
    /// included.
    public var call: Duration = .seconds(10)

    /// How long to wait for a connection to be opened, for each address of each host. Counted in whole seconds, 2 at
    /// least. `connect_timeout` in the connection string takes its place.
    public var connect: Duration = .seconds(5)

    /// How long one statement may take (`statement_timeout`). After a second more without a response the connection is
    /// closed, because a server that cannot be reached cannot report the timeout.
    public var statement: Duration = .seconds(5)

    /// How long a statement waits for a locked row with its connection in hand (`lock_timeout`). Then the connection is
    /// lent to other accounts, and the statement is tried again after a pause (``rowPolling``).
    public var rowLock: Duration = .milliseconds(20)

    /// The pauses between two tries at a locked row.
    public var rowPolling = Backoff(base: .milliseconds(20), limit: .milliseconds(300), floor: .milliseconds(10))

    /// How long the cipher may take over one session. While it seals, its account's row is locked.
    public var cipher: Duration = .seconds(5)

    /// The longest that a claim to the lease lasts without being renewed, on the database's clock. Another process is
    /// given the lease of a dead one after this time.
    public var claim: Duration = .seconds(20)

    /// How often a claim is renewed while its lease is held. Less than half of ``claim``.
    public var heartbeat: Duration = .seconds(5)

    /// The pauses between two tries at a lease that another process has, where its release cannot be listened for.
    public var leasePolling = Backoff(base: .milliseconds(20), limit: .milliseconds(500), floor: .milliseconds(10))

    /// How often the rows of the accounts whose changes are watched are looked at, where changes cannot be listened
    /// for. A random part of it, up to a half, is left out.
    public var changePolling: Duration = .seconds(2)

    /// The pauses between attempts to connect that failed. Calls in a pause fail at once as *unavailable*, so that a
    /// fleet does not overload a server that is starting up.
    public var reconnection = Backoff(base: .milliseconds(100), limit: .seconds(5), floor: .milliseconds(50))

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
