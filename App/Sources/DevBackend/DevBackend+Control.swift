import GRDB

extension DevBackend {
    /// What goes wrong, the rules' counts as they are now. Setting it applies to requests not yet decided on.
    public var faults: FaultPlan {
        get { faultInjector.plan }
        set { faultInjector.plan = newValue }
    }

    /// What the server has counted so far.
    public var statistics: ServerStatistics { ledger.statistics }

    /// The latest requests in the order of their arrival, those to unknown paths included.
    public var journal: [JournalEntry] { ledger.journal }

    /// Holds matching requests until the gate that is returned opens.
    ///
    /// - Parameters:
    ///   - method: the method, in capitals, or nil for any.
    ///   - path: the path below the base path; `*` is any one segment, a final `**` any number.
    ///   - position: whether a request waits before its handler runs, or with its answer in hand.
    /// - Returns: the gate, closed. Stopping the server opens it.
    public func hold(_ method: String?, _ path: String, at position: Gate.Position = .beforeHandler) -> Gate {
        faultInjector.hold(method: method, path: path, at: position)
    }

    /// Expires every access token issued so far. Refresh tokens stay valid.
    ///
    /// - Throws: `DatabaseError` when the new epoch cannot be stored.
    public func expireAccessTokens() async throws {
        _ = try await database.beginNextEpoch()
    }

    /// Revokes every session of a user, as an administrator would.
    ///
    /// - Parameter userID: the user's identifier.
    /// - Returns: how many sessions were live.
    /// - Throws: `DatabaseError` when the database fails.
    @discardableResult
    public func revokeSessions(ofUser userID: Int64) async throws -> Int {
        try await sessions.endAll(ofUser: userID)
    }
}
