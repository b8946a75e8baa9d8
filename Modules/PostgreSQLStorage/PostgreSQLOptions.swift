#if PostgreSQL
public import AuthInterface

/// What a ``PostgreSQLTokenStore`` may do that is not the safe default.
public struct PostgreSQLOptions: Sendable {
    /// Where to listen for changes: a connection string that reaches the server without a pooler in between. `nil`: the
    /// store's own connection string.
    ///
    /// One connection of the process listens. Where the server cannot be reached without a pooler, changes are looked
    /// for every ``PostgreSQLLimits/changePolling``.
    public var directConnection: String?

    /// Hosts, as connection strings name them, that tokens may be sent to without TLS. Unix sockets and loopback need
    /// not be named.
    ///
    /// All others are connected to with `sslmode=require` at least, also when `sslmode` is `prefer` or `allow`, and
    /// `sslmode=disable` is an error. `verify-full` also proves which server it is.
    public var cleartextHosts: Set<String> = []

    /// Whether an update may replace a row that this process cannot open.
    ///
    /// By default such a row is *unavailable*, to a sign-in and a sign-out too: in most cases the process has a wrong
    /// key, and the row is the good session of its fleet. Set it to start anew after a key was lost, and only then.
    public var replacesUnreadableRows = false

    /// Creates options with the safe defaults.
    public init() {}
}

extension PostgreSQLOptions: RedactedDescription {
    /// What is set; nothing of the connection.
    public var description: String {
        """
        PostgreSQLOptions(directConnection: \(directConnection == nil ? "none" : "<redacted>"), \
        cleartextHosts: \(cleartextHosts.sorted()), replacesUnreadableRows: \(replacesUnreadableRows))
        """
    }
}
#endif
