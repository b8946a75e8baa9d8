import ConcurrencyPrimitives

/// Keeps the tokens of one session across launches.
///
/// A store answers a read in three ways, and the third is what keeps users signed in (G14): a bundle; *none*, which
/// must be certain; or an error, which means that it cannot say now. A locked Keychain, an absent keyring, an
/// unreadable file and a disk that is not mounted are errors, never *none*.
///
/// A store that only one process uses needs these three calls. A store that several processes share conforms to
/// ``SharedTokenStore``. Run the contract suite of `AuthTesting` against every implementation.
public protocol TokenStore: Sendable {
    /// Reads the stored bundle.
    ///
    /// - Returns: The bundle, or `nil` if it is certain that none is stored.
    /// - Throws: ``TokenStoreError`` in most cases. Any error counts as *unavailable now*: it signs no user out and
    ///   deletes nothing.
    func load() async throws -> TokenBundle?

    /// Stores a bundle in place of any that is there.
    ///
    /// A process killed at any instant leaves the old bundle or the new one, whole (G12).
    ///
    /// - Parameter bundle: The bundle to store.
    /// - Throws: ``TokenStoreError`` in most cases, with what was stored before still there.
    func save(_ bundle: TokenBundle) async throws

    /// Removes the stored bundle. It is no error if there is none.
    ///
    /// - Throws: ``TokenStoreError`` in most cases, with what was stored before still there.
    func delete() async throws
}

/// A store that several processes share (G13).
///
/// It has two locks. The *lease* is held across a whole refresh, by one process at a time. The *write lock* is held for
/// the few milliseconds of one ``update(_:)``, by any process, holder of the lease or not: a sign-out never waits for a
/// lease.
public protocol SharedTokenStore: TokenStore {
    /// Reads what is stored, the note of an ended session included.
    ///
    /// - Returns: What is stored.
    /// - Throws: As ``TokenStore/load()``.
    func read() async throws -> StoredSession

    /// Reads what is stored, decides and writes, as one step that no other process can interrupt.
    ///
    /// It takes the write lock only, and never waits for a lease.
    ///
    /// - Parameter change: Decides what to store, from what is stored. It is given a failure when what is stored cannot
    ///   be read as a session (code `corrupt`). It returns `nil` to leave everything as it is, and `.empty` to remove
    ///   it. It may be called on any thread, once, and must not block.
    /// - Throws: ``TokenStoreError`` in most cases, with what was stored before still there. Everything but `corrupt`
    ///   is thrown without calling `change`.
    func update(_ change: @escaping @Sendable (Result<StoredSession, TokenStoreError>) -> StoredSession?) async throws

    /// Waits until no other process has the lease, and takes it.
    ///
    /// - Parameter limit: How long to wait at most.
    /// - Returns: The lease. It must be released.
    /// - Throws: ``TokenStoreError`` with code `busy` when the limit passes first; `CancellationError` when the task is
    ///   cancelled while it waits.
    func lease(waitingAtMost limit: Duration) async throws -> any TokenStoreLease

    /// Reports that the stored session may have changed, by this process or another one.
    ///
    /// Each access makes a stream of its own that keeps the newest report only. A report too many does no harm. A
    /// stream that ends means that the store cannot watch; the engine then reads the store at `restore()`.
    var changes: AsyncStream<Void> { get }
}

/// The right to refresh the session of a shared store, held by one process at a time.
public protocol TokenStoreLease: Sendable {
    /// Whether the process that recorded an intent may still be waiting for the response to its call, although this
    /// process now has the lease.
    ///
    /// `false` when the lease proves the opposite: the owner released it, or the kernel of this host did when the owner
    /// died. `true` when it does not, as with a lease that expired, or an owner on another host.
    ///
    /// - Parameter owner: The process that recorded the intent.
    /// - Returns: Whether its call may still be under way.
    func mayStillCall(_ owner: ProcessIdentity) -> Bool

    /// Lets the next process take the lease. A second call does nothing.
    func release() async
}

extension SharedTokenStore {
    /// Reads the stored bundle.
    ///
    /// - Returns: The bundle, or `nil` when none is stored or the session has ended.
    /// - Throws: As ``read()``.
    public func load() async throws -> TokenBundle? { try await read().bundle }

    /// Stores a bundle in place of any that is there, unless a later one of the same session is.
    ///
    /// - Parameter bundle: The bundle to store.
    /// - Throws: ``TokenStoreError`` with code `superseded` when a later bundle of the session is stored, or the
    ///   session has ended; as ``update(_:)``.
    public func save(_ bundle: TokenBundle) async throws {
        let isRefused = Locked(false)
        try await update { found in
            let mayReplace = bundle.mayReplace(found)
            isRefused.withLock { $0 = !mayReplace }
            return mayReplace ? .active(bundle) : nil
        }
        guard isRefused.withLock({ !$0 }) else {
            throw TokenStoreError(
                .superseded,
                reason: "a later state of session \(bundle.session) is stored; load the store again"
            )
        }
    }

    /// Removes what is stored, the note of an ended session included.
    ///
    /// - Throws: As ``update(_:)``.
    public func delete() async throws {
        try await update { _ in .empty }
    }
}

extension TokenBundle {
    /// Whether storing the bundle over what is found loses nothing: another session may always be replaced (a sign-in is
    /// the user's wish), this session only by a later generation or by the same tokens.
    fileprivate func mayReplace(_ found: Result<StoredSession, TokenStoreError>) -> Bool {
        switch found {
        case .success(.active(let stored)) where stored.session == session:
            supersedes(stored) || hasSameTokens(as: stored)
        case .success(.ended(let ended)): ended.session != session
        case .success, .failure: true
        }
    }
}
