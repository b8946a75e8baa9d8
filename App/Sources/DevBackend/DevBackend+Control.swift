import GRDB

extension DevBackend {
    /// The current fault plan, with its current counts. Setting it applies to later requests, and to held ones.
    public var faults: FaultPlan {
        get { faultInjector.plan }
        set { faultInjector.plan = newValue }
    }

    /// The server's counts.
    public var statistics: ServerStatistics { ledger.statistics }

    /// The latest requests in the order of arrival, those to unknown paths included.
    public var journal: [JournalEntry] { ledger.journal }

    /// Holds matching requests at a gate.
    ///
    /// - Parameters:
    ///   - method: The method, in capitals, or nil for any.
    ///   - path: The path below the base path; `*` is any one segment, a final `**` any number.
    ///   - position: Whether a request waits before its handler runs or before its response is sent.
    /// - Returns: The gate, closed. Stopping the server opens it.
    public func hold(_ method: String?, _ path: String, at position: Gate.Position = .beforeHandler) -> Gate {
        faultInjector.hold(method: method, path: path, at: position)
    }

    /// Expires every access token issued so far. Refresh tokens stay valid.
    ///
    /// - Throws: `DatabaseError` when the new epoch cannot be stored.
    public func expireAccessTokens() async throws {
        _ = try await database.startNextEpoch()
    }

    /// Revokes every session of a user, as an administrator does.
    ///
    /// - Parameter userID: The user's identifier.
    /// - Returns: The number of sessions that were live.
    /// - Throws: `DatabaseError` when the database fails.
    @discardableResult
    public func revokeSessions(ofUser userID: Int64) async throws -> Int {
        try await sessions.endAll(ofUser: userID)
    }
}
