public import AuthInterface
public import struct Foundation.Date

/// The refresh engine: refreshes tokens once, however many requests wait, and never signs anyone out by mistake.
///
/// It knows no HTTP. Give it a store and a handler, and ask it for tokens:
///
/// ```swift
/// let session = TokenRefreshCoordinator(store: store, handler: handler)
/// let token = try await session.token()
/// ```
///
/// The rules are in a pure state machine; this class is the shell that runs what the machine decides. Its lock is held
/// for the machine's bookkeeping and never across a suspension.
public final class TokenRefreshCoordinator: AuthSession, TokenProvider {
    let handler: any TokenRefreshHandler
    let revocation: (any TokenRevocationHandler)?
    let policy: TokenRefreshPolicy
    let time: any TimeSource
    let observer: (@Sendable (SessionEvent) -> Void)?
    let core: Locked<CoordinatorCore>

    /// Creates an engine. Nothing is read or sent until it is asked something.
    ///
    /// - Parameters:
    ///   - store: Where the session is kept. A ``SharedTokenStore`` is shared with other processes (G13).
    ///   - handler: The call that buys new tokens.
    ///   - revocation: The call that tells the server of tokens no longer wanted. `nil`: the server is not told.
    ///   - policy: The times and limits.
    ///   - time: The clocks.
    ///   - observer: Told what the engine does, in no guaranteed order and on any thread. It must not block.
    public convenience init(
        store: any TokenStore,
        handler: any TokenRefreshHandler,
        revocation: (any TokenRevocationHandler)? = nil,
        policy: TokenRefreshPolicy = TokenRefreshPolicy(),
        time: any TimeSource = SystemTimeSource(),
        observer: (@Sendable (SessionEvent) -> Void)? = nil
    ) {
        self.init(
            store: store,
            handler: handler,
            revocation: revocation,
            policy: policy,
            time: time,
            rules: RefreshRules(),
            observer: observer
        )
    }

    init(
        store: any TokenStore,
        handler: any TokenRefreshHandler,
        revocation: (any TokenRevocationHandler)?,
        policy: TokenRefreshPolicy,
        time: any TimeSource,
        rules: RefreshRules,
        observer: (@Sendable (SessionEvent) -> Void)?
    ) {
        self.handler = handler
        self.revocation = revocation
        self.policy = policy
        self.time = time
        self.observer = observer
        let machine = RefreshStateMachine(
            policy: policy,
            isShared: store is any SharedTokenStore,
            seed: .random(in: .min ... .max),
            rules: rules
        )
        core = Locked(CoordinatorCore(machine: machine))
        let worker = StoreWorker(store: store, leaseWait: policy.leaseWait) { [weak self] in self?.send($0) }
        core.withLock { $0.worker = worker }
    }

    deinit {
        let (timers, subscribers) = core.withLock { core in
            core.worker?.finish()
            return (Array(core.timers.values), Array(core.subscribers.values))
        }
        for timer in timers { timer.cancel() }
        for subscriber in subscribers { subscriber.finish() }
    }

    // MARK: TokenProvider

    /// See ``TokenProvider/token()``.
    ///
    /// - Returns: A token that is not known to be expired.
    /// - Throws: ``AuthenticationError``, or `CancellationError`.
    /// - Complexity: With a valid token O(1): one lock, no suspension, no allocation.
    public func token() async throws -> SessionToken {
        let uptime = time.uptime
        if let token = core.withLock({ $0.machine.readyToken(at: uptime) }) { return token }
        return try await ask { .tokenAsked($0) }.token
    }

    /// See ``TokenProvider/replacement(for:)``.
    ///
    /// - Parameter refused: The token the request carried.
    /// - Returns: A token of the same session, other than the refused one.
    /// - Throws: ``AuthenticationError``, or `CancellationError`.
    public func replacement(for refused: SessionToken) async throws -> SessionToken {
        try await ask { .tokenRefused(refused, $0) }.token
    }

    /// See ``TokenProvider/noteServerDate(_:)``.
    ///
    /// - Parameter date: The instant of an answer on the server's clock.
    public func noteServerDate(_ date: Date) {
        send(.serverDateNoted(date))
    }

    // MARK: AuthSession

    /// What is known of the session now.
    public var state: SessionState { core.withLock { $0.machine.state } }

    /// The states from now on, the current one first.
    public var states: AsyncStream<SessionState> {
        let (stream, continuation) = AsyncStream.makeStream(of: SessionState.self)
        core.withLock { core in
            let id = core.nextNumber()
            core.subscribers[id] = continuation
            continuation.yield(core.machine.state)
            continuation.onTermination = { [weak self] _ in
                self?.core.withLock { _ = $0.subscribers.removeValue(forKey: id) }
            }
        }
        return stream
    }

    /// See ``AuthSession/restore()``.
    ///
    /// - Returns: The state once the store has answered.
    /// - Throws: ``AuthenticationError`` with code `storeUnavailable`, or `CancellationError`.
    @discardableResult
    public func restore() async throws -> SessionState {
        try await ask { .restoreAsked($0) }.state
    }

    /// See ``AuthSession/signIn(_:)``. When the task is cancelled the session begins all the same.
    ///
    /// - Parameter tokens: What the server issued.
    /// - Throws: ``AuthenticationError`` with code `invalidTokens`, or `CancellationError`.
    public func signIn(_ tokens: TokenRefreshResult) async throws {
        _ = try await ask { .signIn(tokens, SessionID(), $0) }.get()
    }

    /// See ``AuthSession/signOut()``. When the task is cancelled the session ends all the same.
    ///
    /// The call waits for the revocation too, for at most the policy's `deadline`; that it failed is an event and no
    /// error.
    ///
    /// - Throws: ``AuthenticationError`` with code `storeUnavailable`, or `CancellationError`.
    public func signOut() async throws {
        let answer = await ask { .signOut($0) }
        await endOfRevocations()
        _ = try answer.get()
        try Task.checkCancellation()
    }

    /// Waits until every revocation under way is done, or the task is cancelled: a revocation goes on without us.
    private func endOfRevocations() async {
        let revocations = core.withLock { Array($0.revocations.values) }
        guard !revocations.isEmpty else { return }
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        Task {
            for revocation in revocations { await revocation.value }
            end.finish()
        }
        for await _ in ends {}
    }
}
