public import AuthInterface
import TokenRefresh

/// Moving the session to another store, without a sign-out at the server.
extension AppGraph {
    /// The store, if other processes share it; `nil` for one in memory.
    public var sharedStore: (any SharedTokenStore)? {
        configuration.store == .memory ? nil : store as? any SharedTokenStore
    }

    /// Moves the session out of the store. A refresh that was interrupted is completed first, and so is a sign-out that
    /// the store has not taken (G30). The responses that are kept of the session are deleted.
    ///
    /// - Parameter receive: Receives the tokens, and the tombstone that will replace them, and returns when the tokens
    ///   are durable at their new place. When it throws, the session stays.
    /// - Returns: What was moved.
    /// - Throws: `AuthenticationError`, `TokenStoreError`, and what `receive` throws.
    @discardableResult
    public func moveSessionOut(
        to receive: (TokenBundle, SessionTombstone) async throws -> Void
    ) async throws -> TokenBundle {
        guard let sharedStore else { throw AuthenticationError(.notSignedIn) }
        if let stored = try await sharedStore.load() {
            if case .signedOut = try await session.restore() {
                try await settle()
                throw AuthenticationError(.notSignedIn)
            }
            if stored.refreshIntent != nil {
                try await session.refresh()
                try await settle()
            }
        }
        let bundle = try await sharedStore.moveOut(to: receive)
        deleteStoredResponses()
        return bundle
    }

    /// Moves a session into the store. It replaces no session.
    ///
    /// - Parameter bundle: The session.
    /// - Returns: `nil` when the session is stored; otherwise what is stored in place of it.
    /// - Throws: `TokenStoreError`.
    public func moveSessionIn(_ bundle: TokenBundle) async throws -> StoredSession? {
        guard let sharedStore else {
            throw TokenStoreError(.unavailable, reason: "the store is in memory; use --store file")
        }
        return try await sharedStore.moveIn(bundle)
    }
}
