public import AuthInterface
public import ConcurrencyPrimitives
import Foundation

/// Keeps the tokens in memory, until the process ends.
///
/// For servers that sign in at every start, for previews, and where nothing may be left on a disk. Coordinators of one
/// process may share it: waiters get its lease in the order of their requests.
///
/// No call blocks. Only a wait for the lease can suspend or fail.
public final class MemoryTokenStore: SharedTokenStore {
    private let stored: Locked<StoredSession>
    private let queue: LeaseQueue
    private let broadcast = Broadcast<Void>()
    private let leaseIdentity = UUID().uuidString

    /// Creates a store. The clock limits the wait for a lease.
    public init(holding bundle: TokenBundle? = nil, clock: any TimeSource = SystemTimeSource()) {
        stored = Locked(bundle.map { .active($0) } ?? .empty)
        queue = LeaseQueue(clock: clock)
    }

    /// Reads what is stored. It is always certain.
    public func read() async -> StoredSession { stored.withLock { $0 } }

    /// Reads what is stored, decides and writes, as one step. The closure must not use the store.
    public func update(_ change: @escaping StoreChange) async {
        let isChanged = stored.withLock { stored in
            guard let new = change(.success(stored)) else { return false }
            stored = new
            return true
        }
        if isChanged { broadcast.send(()) }
    }

    /// Reads the stored bundle; `nil` when none is stored or the session has ended.
    public func load() async -> TokenBundle? { await read().bundle }

    /// Removes what is stored.
    public func delete() async { await update { _ in .empty } }

    /// Reports every write. Each access makes a new stream.
    public var changes: AsyncStream<Void> { broadcast.stream() }

    /// Waits until no other holder has the lease, and takes it.
    ///
    /// A lease that is dropped without being released is released. The holder is reported once.
    ///
    /// - Throws: `TokenStoreError` with code `busy` when the limit passes first; `CancellationError` when the task is
    ///   cancelled while it waits.
    public func lease(
        waitingAtMost limit: Duration, whileHeld report: @escaping @Sendable (LeaseHolder) -> Void
    ) async throws -> any TokenStoreLease {
        let ticket = try await queue.take(waitingAtMost: limit, whileHeld: report)
        return MemoryTokenStoreLease(leaseIdentity, queue: queue, ticket: ticket)
    }
}

private final class MemoryTokenStoreLease: TokenStoreLease {
    /// A random name of the store: each lease of it ends before the next one begins.
    let identity: String?
    private let queue: LeaseQueue
    private let ticket: LeaseQueue.Ticket

    init(_ identity: String, queue: LeaseQueue, ticket: LeaseQueue.Ticket) {
        self.identity = identity
        self.queue = queue
        self.ticket = ticket
    }

    deinit { queue.release(ticket) }

    /// An intent that names another lease was not recorded in this store.
    func mayStillCall(_ intent: RefreshIntent) -> Bool { intent.lease != identity }

    var isLost: Bool { false }

    func release() async { queue.release(ticket) }
}
