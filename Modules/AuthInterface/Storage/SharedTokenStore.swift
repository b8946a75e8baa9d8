import ConcurrencyPrimitives

/// Decides what a ``SharedTokenStore`` stores, from what is stored.
///
/// It is called with a failure when the content cannot be read as a session (code `corrupt`). It returns `nil` to leave
/// the content as it is, and `.empty` to remove it.
public typealias StoreChange = @Sendable (Result<StoredSession, TokenStoreError>) -> StoredSession?

/// A store that several processes share (G13).
///
/// It has two locks. The *lease* is held across a whole refresh, by one process at a time. The *write lock* is held for
/// the few milliseconds of one ``update(_:)``, by any process, holder of the lease or not: a sign-out never waits for a
/// lease.
public protocol SharedTokenStore: TokenStore, SessionSource {
    /// Reads what is stored, decides and writes, as one step that no other process can interrupt.
    ///
    /// It takes the write lock only, and never waits for a lease.
    ///
    /// - Parameter change: Decides what to store. It is called once at most, on any thread, and must not block.
    /// - Throws: ``TokenStoreError`` in most cases; the stored content is then unchanged. Each code except `corrupt` is
    ///   thrown without a call of `change`.
    func update(_ change: @escaping StoreChange) async throws

    /// Waits until no other process has the lease, and takes it. Says meanwhile which process has it.
    ///
    /// - Parameters:
    ///   - limit: How long to wait at most.
    ///   - report: Is called with each holder that the store finds, on any thread, and not after the return. It must
    ///     not block. A store that does not know its holder does not call it.
    /// - Returns: The lease. It must be released.
    /// - Throws: ``TokenStoreError`` with code `busy` when the limit passes first; its reason names the holder, if it
    ///   is known. `CancellationError` when the task is cancelled while it waits.
    func lease(
        waitingAtMost limit: Duration, whileHeld report: @escaping @Sendable (LeaseHolder) -> Void
    ) async throws -> any TokenStoreLease
}

extension SharedTokenStore {
    /// Waits for the lease, without a report of its holder.
    ///
    /// - Throws: As ``lease(waitingAtMost:whileHeld:)``.
    public func lease(waitingAtMost limit: Duration) async throws -> any TokenStoreLease {
        try await lease(waitingAtMost: limit) { _ in }
    }

    /// Reads the stored bundle: `nil` when none is stored or the session has ended.
    ///
    /// - Throws: As ``read()``.
    public func load() async throws -> TokenBundle? { try await read().bundle }

    /// Stores a bundle, unless a later one of the same session is stored.
    ///
    /// - Throws: ``TokenStoreError`` with code `superseded` when a later bundle of the session is stored, or the
    ///   session has ended; as ``update(_:)``.
    public func save(_ bundle: TokenBundle) async throws {
        let isRefused = Locked(false)
        try await update { found in
            if case .success(let stored) = found, !bundle.mayReplace(stored) {
                isRefused.withLock { $0 = true }
                return nil
            }
            return .active(bundle)
        }
        if isRefused.withLock({ $0 }) { throw TokenStoreError.superseded(bundle) }
    }

    /// Removes what is stored, including the tombstone of an ended session.
    ///
    /// - Throws: As ``update(_:)``.
    public func delete() async throws { try await update { _ in .empty } }
}
