#if PostgreSQL
public import AuthInterface

/// Options of a ``PostgreSQLTokenStore`` that differ from the safe defaults.
public struct PostgreSQLOptions: Sendable {
    /// A connection string that reaches the server without a pooler, to listen for changes. `nil`: the store's own
    /// connection string.
    ///
    /// One connection of the process listens. If the server can be reached through a pooler only, the store polls for
    /// changes every ``PostgreSQLLimits/changePolling``.
    public var directConnection: String?

    /// Hosts, as in the connection strings, to which tokens may be sent without TLS. Unix sockets and loopback are
    /// always allowed.
    ///
    /// Other hosts need `sslmode=require` at least: `prefer` and `allow` count as `require`, and `disable` is an error.
    /// `verify-full` also proves the server's identity.
    public var cleartextHosts: Set<String> = []

    /// Whether an update may replace a row that this process cannot open.
    ///
    /// By default such a row is *unavailable*, also for a sign-in and a sign-out: in most cases the process has a wrong
    /// key, and the row is the valid session of its fleet. Set this only after a key was lost.
    public var replacesUnreadableRows = false

    /// Creates options with the safe defaults.
    public init() {}
}

extension PostgreSQLOptions: RedactedDescription {
    /// The options, without the connection string.
    public var description: String {
        """
        PostgreSQLOptions(directConnection: \(directConnection == nil ? "none" : "<redacted>"), \
        cleartextHosts: \(cleartextHosts.sorted()), replacesUnreadableRows: \(replacesUnreadableRows))
        """
    }
}
#endif
