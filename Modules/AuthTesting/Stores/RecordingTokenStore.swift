public import AuthInterface

/// A store in memory that works, and remembers what was asked of it, in order.
///
/// It is shared: coordinators that are given the same one are processes with one stored session. It keeps whatever it
/// is given, even a bundle a real shared store would refuse, so that a test sees who would have written it.
public final class RecordingTokenStore: SharedTokenStore {
    /// Something that was asked of the store, when it was done.
    public enum Event: Sendable, Hashable {
        /// A load, and its answer.
        case load(TokenBundle?)
        /// A save.
        case save(TokenBundle)
        /// A delete.
        case delete
        /// A lease that was taken.
        case lease
        /// A lease that was released, by hand or by being dropped.
        case release
    }

    private struct State {
        var bundle: TokenBundle?
        var events: [Event] = []
        var isHeld = false
        var line: [Gate] = []
    }

    private let state: Locked<State>
    private let time: any TimeSource

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - bundle: What the store holds to begin with.
    ///   - time: The clock that limits the wait for a lease.
    public init(holding bundle: TokenBundle? = nil, time: any TimeSource = SystemTimeSource()) {
        state = Locked(State(bundle: bundle))
        self.time = time
    }

    /// What was asked of the store so far, in order.
    public var events: [Event] { state.withLock { $0.events } }

    /// What the store holds. Looking is no event.
    public var bundle: TokenBundle? { state.withLock { $0.bundle } }

    /// Reads the bundle.
    ///
    /// - Returns: The bundle, if there is one.
    public func load() async -> TokenBundle? {
        state.withLock { state in
            state.events.append(.load(state.bundle))
            return state.bundle
        }
    }

    /// Stores a bundle.
    ///
    /// - Parameter bundle: The bundle.
    public func save(_ bundle: TokenBundle) async {
        state.withLock { state in
            state.bundle = bundle
            state.events.append(.save(bundle))
        }
    }

    /// Removes the bundle.
    public func delete() async {
        state.withLock { state in
            state.bundle = nil
            state.events.append(.delete)
        }
    }

    /// Waits for the turn of the caller, in the order of the calls.
    ///
    /// - Parameter limit: How long to wait at most.
    /// - Returns: The store.
    /// - Throws: ``TokenStoreError`` with code `busy` when the limit passes first; `CancellationError`.
    public func lease(waitingAtMost limit: Duration) async throws -> any TokenStoreLease {
        let deadline = time.uptime + limit
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
                group.addTask { [time] in
                    try await time.sleep(until: deadline)
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

    func load() async throws -> TokenBundle? {
        try checkIsHeld()
        return await store.load()
    }

    func save(_ bundle: TokenBundle) async throws {
        try checkIsHeld()
        await store.save(bundle)
    }

    func delete() async throws {
        try checkIsHeld()
        await store.delete()
    }

    func release() async { releaseOnce() }

    private func releaseOnce() {
        let isFirst = isReleased.withLock { isReleased in
            defer { isReleased = true }
            return !isReleased
        }
        if isFirst { store.noteRelease() }
    }

    private func checkIsHeld() throws(TokenStoreError) {
        guard !isReleased.withLock({ $0 }) else { throw TokenStoreError(.unavailable, reason: "the lease is over") }
    }
}
