public import AuthInterface
public import ConcurrencyPrimitives

/// A store in memory that works, and remembers what was asked of it, in order.
///
/// It is shared: coordinators that are given the same one are processes with one stored session. It keeps whatever it
/// is given, even a bundle a real shared store would refuse, so that a test sees who would have written it.
public final class RecordingTokenStore: SharedTokenStore {
    /// Something that was asked of the store, when it was done.
    public enum Event: Sendable, Hashable {
        /// A read, and the bundle that was there.
        case load(TokenBundle?)
        /// A save.
        case save(TokenBundle)
        /// The note of an ended session.
        case end(EndedSession)
        /// A delete.
        case delete
        /// A lease that was taken.
        case lease
        /// A lease that was released, by hand or by being dropped.
        case release
    }

    private struct State {
        var content: StoredSession
        var events: [Event] = []
        var isHeld = false
        var line: [Gate] = []
    }

    private let state: Locked<State>
    private let clock: any TimeSource
    private let broadcast = Broadcast<Void>()

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - bundle: What the store holds to begin with.
    ///   - clock: The clock that limits the wait for a lease.
    public init(holding bundle: TokenBundle? = nil, clock: any TimeSource = SystemTimeSource()) {
        state = Locked(State(content: bundle.map { .active($0) } ?? .empty))
        self.clock = clock
    }

    /// What was asked of the store so far, in order.
    public var events: [Event] { state.withLock { $0.events } }

    /// What the store holds. Looking is no event.
    public var content: StoredSession { state.withLock { $0.content } }

    /// The bundle that the store holds. Looking is no event.
    public var bundle: TokenBundle? { content.bundle }

    /// Reads what is stored.
    ///
    /// - Returns: What is stored.
    public func read() async -> StoredSession {
        state.withLock { state in
            state.events.append(.load(state.content.bundle))
            return state.content
        }
    }

    /// Reads the bundle.
    ///
    /// - Returns: The bundle, if there is one.
    public func load() async -> TokenBundle? {
        await read().bundle
    }

    /// Stores a bundle, whatever is there.
    ///
    /// - Parameter bundle: The bundle.
    public func save(_ bundle: TokenBundle) async {
        await update { _ in .active(bundle) }
    }

    /// Removes what is stored.
    public func delete() async {
        await update { _ in .empty }
    }

    /// Decides and writes, as one step. A decision to leave everything as it is is no event.
    ///
    /// - Parameter change: Decides what to store.
    public func update(
        _ change: @escaping @Sendable (Result<StoredSession, TokenStoreError>) -> StoredSession?
    ) async {
        let isChanged = state.withLock { state in
            guard let new = change(.success(state.content)) else { return false }
            state.content = new
            switch new {
            case .empty: state.events.append(.delete)
            case .active(let bundle): state.events.append(.save(bundle))
            case .ended(let ended): state.events.append(.end(ended))
            }
            return true
        }
        if isChanged { broadcast.send(()) }
    }

    /// A stream that reports every write.
    public var changes: AsyncStream<Void> { broadcast.stream() }

    /// Waits for the turn of the caller, in the order of the calls.
    ///
    /// - Parameter limit: How long to wait at most.
    /// - Returns: The store.
    /// - Throws: ``TokenStoreError`` with code `busy` when the limit passes first; `CancellationError`.
    public func lease(waitingAtMost limit: Duration) async throws -> any TokenStoreLease {
        let deadline = clock.uptime + limit
        let turn: Gate? = state.withLock { state in
            guard state.isHeld else {
                state.isHeld = true
                return nil
            }
            let gate = Gate()
            state.line.append(gate)
            return gate
        }
        if let turn { try await wait(for: turn, until: deadline) }
        state.withLock { $0.events.append(.lease) }
        return RecordingLease(store: self)
    }

    private func wait(for turn: Gate, until deadline: Duration) async throws {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await turn.passUnlessCancelled() }
                group.addTask { [clock] in
                    try await clock.sleep(until: deadline)
                    throw TokenStoreError(.busy, reason: "another holder has the store")
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch {
            let hadTurn = state.withLock { state in
                let place = state.line.firstIndex { $0 === turn }
                if let place { state.line.remove(at: place) }
                return place == nil
            }
            if hadTurn { giveBack() }
            throw error
        }
    }

    fileprivate func noteRelease() {
        state.withLock { $0.events.append(.release) }
        giveBack()
    }

    private func giveBack() {
        let next: Gate? = state.withLock { state in
            guard state.line.isEmpty else { return state.line.removeFirst() }
            state.isHeld = false
            return nil
        }
        next?.open()
    }
}

private final class RecordingLease: TokenStoreLease {
    private let store: RecordingTokenStore
    private let isReleased = Locked(false)

    init(store: RecordingTokenStore) {
        self.store = store
    }

    deinit { releaseOnce() }

    /// Its owners are coordinators of one process: one that released the lease has no call under way.
    func mayStillCall(_ owner: ProcessIdentity) -> Bool { false }

    func release() async { releaseOnce() }

    private func releaseOnce() {
        let isFirst = isReleased.withLock { isReleased in
            defer { isReleased = true }
            return !isReleased
        }
        if isFirst { store.noteRelease() }
    }
}
