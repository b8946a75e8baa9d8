public import AuthInterface

/// Keeps the tokens as long as the process lives.
///
/// For servers that sign in anew at every start, for previews, and wherever nothing may be left behind. Coordinators
/// of one process may share it: its leases are handed out in the order in which they were asked for.
///
/// No call blocks, suspends (but for a lease that somebody else has) or fails (but as said below).
public final class MemoryTokenStore: TransitionalSharedStore {
    private let stored: Locked<TokenBundle?>
    private let queue: LeaseQueue

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - bundle: What the store holds to begin with.
    ///   - time: The clock that limits the wait for a lease.
    public init(holding bundle: TokenBundle? = nil, time: any TimeSource = SystemTimeSource()) {
        stored = Locked(bundle)
        queue = LeaseQueue(time: time)
    }

    /// Reads the stored bundle.
    ///
    /// - Returns: The bundle, or `nil` if there is none. It is always certain.
    public func load() async -> TokenBundle? {
        stored.withLock { $0 }
    }

    /// Stores a bundle in place of any that is there.
    ///
    /// - Parameter bundle: The bundle to store.
    /// - Throws: ``TokenStoreError`` with code `superseded` when a later bundle of the same session is there.
    public func save(_ bundle: TokenBundle) async throws {
        try stored.withLock { stored in
            try bundle.checkMayReplace(stored)
            stored = bundle
        }
    }

    /// Removes the stored bundle, if there is one.
    public func delete() async {
        stored.withLock { $0 = nil }
    }

    /// Waits until no other holder has the store, and takes it.
    ///
    /// A lease that is dropped without being released is released.
    ///
    /// - Parameter limit: How long to wait at most.
    /// - Returns: The store as its holder uses it.
    /// - Throws: ``TokenStoreError`` with code `busy` when the limit passes first; `CancellationError` when the task is
    ///   cancelled while it waits.
    public func lease(waitingAtMost limit: Duration) async throws -> any TokenStoreLease {
        MemoryTokenStoreLease(store: self, queue: queue, ticket: try await queue.take(waitingAtMost: limit))
    }
}

/// A ``MemoryTokenStore`` in the hands of one holder.
private final class MemoryTokenStoreLease: TokenStoreLease {
    private let store: MemoryTokenStore
    private let queue: LeaseQueue
    private let ticket: LeaseQueue.Ticket

    init(store: MemoryTokenStore, queue: LeaseQueue, ticket: LeaseQueue.Ticket) {
        self.store = store
        self.queue = queue
        self.ticket = ticket
    }

    deinit { queue.giveBack(ticket) }

    func load() async throws -> TokenBundle? {
        try checkIsHeld()
        return await store.load()
    }

    func save(_ bundle: TokenBundle) async throws {
        try checkIsHeld()
        try await store.save(bundle)
    }

    func delete() async throws {
        try checkIsHeld()
        await store.delete()
    }

    func mayStillCall(_ owner: ProcessIdentity) -> Bool { owner.host != ProcessIdentity.current.host }

    func release() async { queue.giveBack(ticket) }

    private func checkIsHeld() throws {
        guard queue.isHeld(by: ticket) else { throw TokenStoreError.released }
    }
}
