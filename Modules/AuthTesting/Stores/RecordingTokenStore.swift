public import AuthInterface
public import ConcurrencyPrimitives

/// A store in memory that records its operations in order.
///
/// It is shared: coordinators with the same store act as processes with one stored session. It stores every bundle,
/// also one that a real shared store would refuse, so that a test can see the write.
public final class RecordingTokenStore: SharedTokenStore {
    /// A completed operation.
    public enum Event: Sendable, Hashable {
        /// A read, with the bundle that it returned.
        case load(TokenBundle?)
        /// A save.
        case save(TokenBundle)
        /// A write of a tombstone.
        case end(SessionTombstone)
        /// A delete.
        case delete
        /// A lease that was taken.
        case lease
        /// A lease that was released, or deinitialised without a release.
        case release
    }

    private struct State {
        var content: StoredSession
        var events: [Event] = []
        var isHeld = false
        var requests = 0
        var line = WaitQueue<Int, Turn<Void>>()
    }

    private let state: Locked<State>
    private let clock: any TimeSource
    private let broadcast = Broadcast<Void>()

    /// Creates a store. The clock limits the wait for the lease.
    public init(holding bundle: TokenBundle? = nil, clock: any TimeSource = SystemTimeSource()) {
        state = Locked(State(content: bundle.map { .active($0) } ?? .empty))
        self.clock = clock
    }

    /// The operations so far, in order.
    public var events: [Event] { state.withLock { $0.events } }

    /// The content. Reading it records no event.
    public var content: StoredSession { state.withLock { $0.content } }

    /// The stored bundle. Reading it records no event.
    public var bundle: TokenBundle? { content.bundle }

    /// Reads the content.
    public func read() async -> StoredSession {
        state.withLock { state in
            state.events.append(.load(state.content.bundle))
            return state.content
        }
    }

    /// Reads the bundle.
    public func load() async -> TokenBundle? { await read().bundle }

    /// Stores a bundle over any content.
    public func save(_ bundle: TokenBundle) async { await update { _ in .active(bundle) } }

    /// Removes the content.
    public func delete() async { await update { _ in .empty } }

    /// Decides and writes in one step. A change that returns `nil` records no event.
    public func update(_ change: @escaping StoreChange) async {
        let isChanged = state.withLock { state in
            guard let new = change(.success(state.content)) else { return false }
            state.content = new
            switch new {
            case .empty: state.events.append(.delete)
            case .active(let bundle): state.events.append(.save(bundle))
            case .tombstone(let tombstone): state.events.append(.end(tombstone))
            }
            return true
        }
        if isChanged { broadcast.send(()) }
    }

    /// A stream that reports every write.
    public var changes: AsyncStream<Void> { broadcast.stream() }

    /// Waits for the lease, in the order of the calls. It reports no holder.
    ///
    /// - Throws: `TokenStoreError` with code `busy` when the limit passes first; `CancellationError`.
    public func lease(
        waitingAtMost limit: Duration, whileHeld report: @escaping @Sendable (LeaseHolder) -> Void
    ) async throws -> any TokenStoreLease {
        let deadline = clock.uptime + limit
        let request = state.withLock { state in
            state.requests += 1
            return state.requests
        }
        try await state.wait(as: request, in: \.line, until: deadline, on: clock) {
            TokenStoreError(.busy, reason: "another owner holds the lease")
        } unless: { state in
            guard !state.isHeld else { return nil }
            state.isHeld = true
            return ()
        }
        state.withLock { $0.events.append(.lease) }
        return RecordingLease(store: self)
    }

    fileprivate func release() {
        let next = state.withLock { state in
            state.events.append(.release)
            let next = state.line.popFirst()
            state.isHeld = next != nil
            return next?.waiter
        }
        next?.end(.success(()))
    }
}

private final class RecordingLease: TokenStoreLease {
    private let store: RecordingTokenStore
    private let ending = Race<Void>()

    init(store: RecordingTokenStore) { self.store = store }

    deinit { releaseOnce() }

    /// The name of every lease of every store, so that a test can continue with a bundle in a new store.
    let identity: String? = "recorded"

    /// A holder that has released the lease has no call in progress.
    func mayStillCall(_ intent: RefreshIntent) -> Bool { intent.lease != identity }

    var isLost: Bool { false }

    func release() async { releaseOnce() }

    private func releaseOnce() { if ending.end(()) { store.release() } }
}

/// An operation of a token store that ``FaultyTokenStore`` counts, delays or fails.
public enum StoreOperation: Sendable, Hashable, CaseIterable {
    /// `TokenStore.load()` and `SharedTokenStore.read()`.
    case load
    /// `TokenStore.save(_:)`, and a `SharedTokenStore.update(_:)` that saves.
    case save
    /// A save of a bundle with a pending refresh: the intent, before the call.
    case record
    /// `TokenStore.delete()`, and an update that ends the session.
    case delete
    /// `SharedTokenStore.lease(waitingAtMost:whileHeld:)`.
    case lease
    /// `TokenStoreLease.release()`. It cannot fail.
    case release
    /// `SharedTokenStore.changes`. It does not wait. A failure ends a stream when it is opened, and those that are open
    /// as soon as it is scripted.
    case watch

    /// When a call waits at a gate.
    public enum Moment: Sendable, Hashable {
        /// Before the operation.
        case before
        /// After the operation, before its result is returned.
        case after
    }
}
