public import AuthInterface
public import ConcurrencyPrimitives

/// Moving a session from one store to another: into a file, to another machine.
///
/// A session is moved and never copied. A server that rotates refresh tokens takes two holders of one token for a
/// theft, and ends the session of both.
extension SharedTokenStore {
    /// Moves the session out of the store. Its tokens are not revoked.
    ///
    /// An application with a journal restores the session first: a sign-out that the store has not taken is completed
    /// then, and there is nothing to move (G30).
    ///
    /// It holds the lease, so no process refreshes the tokens meanwhile. The session is ended with the reason
    /// `SignOutReason.moved` once it was received; every process that shares the store follows.
    ///
    /// - Parameters:
    ///   - limit: How long to wait for the lease. Default: 30 s.
    ///   - clock: The clock of the tombstone's date.
    ///   - receive: Receives the tokens, and the tombstone that will replace them, and returns when the tokens are
    ///     durable at their new place. When it throws, the session is kept. After a crash, the tombstone in the store
    ///     shows that the session had left it; a session can leave a store several times, so its date matters.
    /// - Returns: What was moved.
    /// - Throws: `AuthenticationError` with code `notSignedIn`. `TokenStoreError`: `busy` when a refresh is under way,
    ///   or has been interrupted and must be completed first; `superseded` when another process has changed the session
    ///   after it was received; as `SharedTokenStore.update(_:)`. The session is then in the store. What
    ///   `receive` throws.
    @discardableResult
    public func moveOut(
        waitingAtMost limit: Duration = .seconds(30),
        clock: any TimeSource = SystemTimeSource(),
        to receive: (TokenBundle, SessionTombstone) async throws -> Void
    ) async throws -> TokenBundle {
        // Without a session there is nothing to take a lease of.
        guard try await read().bundle != nil else { throw AuthenticationError(.notSignedIn) }
        let lease = try await lease(waitingAtMost: limit)
        do {
            let bundle = try await moveOut(under: lease, clock, receive)
            await lease.release()
            return bundle
        } catch {
            await lease.release()
            throw error
        }
    }

    private func moveOut(
        under lease: any TokenStoreLease,
        _ clock: any TimeSource,
        _ receive: (TokenBundle, SessionTombstone) async throws -> Void
    ) async throws -> TokenBundle {
        guard let bundle = try await read().bundle else { throw AuthenticationError(.notSignedIn) }
        guard bundle.refreshIntent == nil else {
            throw TokenStoreError(.busy, reason: "a refresh of the session was interrupted; refresh it first")
        }
        let tombstone = SessionTombstone(session: bundle.session, reason: .moved, date: clock.date)
        try await receive(bundle, tombstone)
        guard !lease.isLost else {
            throw TokenStoreError(.busy, reason: "the lease was lost: another process may refresh the session")
        }
        let isEnded = Locked(false)
        try await update { found in
            guard case .success(.active(bundle)) = found else { return nil }
            isEnded.withLock { $0 = true }
            return .tombstone(tombstone)
        }
        guard isEnded.withLock({ $0 }) else { throw TokenStoreError.superseded(bundle) }
        return bundle
    }

    /// Moves a session into the store.
    ///
    /// It replaces no session: end that one first. A session that was moved out of this store can return. One that has
    /// ended in another way cannot. It counts as signed in now: those who follow the store have seen the sessions that
    /// ended there before it, and this one may have begun before them.
    ///
    /// - Parameters:
    ///   - bundle: The session.
    ///   - clock: The clock of that instant.
    /// - Returns: `nil` when the session is stored; otherwise what is stored in place of it, unchanged: a session, the
    ///   same one included, or the end of the same session.
    /// - Throws: As `SharedTokenStore.update(_:)`.
    @discardableResult
    public func moveIn(
        _ bundle: TokenBundle, clock: any TimeSource = SystemTimeSource()
    ) async throws -> StoredSession? {
        let moved = bundle.signedIn(at: clock.date)
        let obstacle = Locked<StoredSession?>(nil)
        try await update { found in
            switch found {
            case .success(let stored) where !stored.admits(bundle):
                obstacle.withLock { $0 = stored }
                return nil
            // What cannot be read is replaced, as a sign-in replaces it.
            case .success, .failure: return .active(moved)
            }
        }
        return obstacle.withLock { $0 }
    }
}

extension StoredSession {
    fileprivate func admits(_ bundle: TokenBundle) -> Bool {
        switch self {
        case .empty: true
        case .active: false
        case .tombstone(let tombstone): tombstone.session != bundle.session || tombstone.reason == .moved
        }
    }
}
