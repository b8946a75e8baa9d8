public import AuthInterface
public import ConcurrencyPrimitives

public import struct Foundation.Date

/// The refresh engine: refreshes tokens once for any number of waiting requests, and signs no user out by mistake.
///
/// It does not depend on HTTP. It needs a store and a handler, and returns tokens:
///
/// ```swift
/// let session = TokenRefreshCoordinator(store: store, handler: handler)
/// let token = try await session.token()
/// ```
///
/// The rules are in a pure state machine; this class runs the actions that the machine returns. Its lock is held for
/// the machine's bookkeeping and never across a suspension.
public final class TokenRefreshCoordinator: AuthSession, TokenProvider {
    let handler: any TokenRefreshHandler
    let revocation: (any TokenRevocationHandler)?
    let policy: TokenRefreshPolicy
    let clock: any TimeSource
    let activity: any ExpiringActivity
    let observer: (@Sendable (SessionEvent) -> Void)?
    let access: StoreAccess
    let core: Locked<CoordinatorCore>

    /// Creates an engine. It does not access the store or the server before its first use.
    ///
    /// - Parameters:
    ///   - store: Holds the session. A `SharedTokenStore` is shared with other processes (G13).
    ///   - handler: The call that exchanges a refresh token for new tokens.
    ///   - revocation: Revokes tokens that are not used any more. `nil`: the handler, if it is a
    ///     `TokenRevocationHandler` too; otherwise tokens are not revoked.
    ///   - policy: The times and limits.
    ///   - clock: The clocks.
    ///   - activity: Keeps the system from suspending the process while it holds the lease of a shared store.
    ///   - observer: Notified of what the engine does, in no guaranteed order and on any thread. It must not block.
    public init(
        store: any TokenStore,
        handler: any TokenRefreshHandler,
        revocation: (any TokenRevocationHandler)? = nil,
        policy: TokenRefreshPolicy = TokenRefreshPolicy(),
        clock: any TimeSource = SystemTimeSource(),
        activity: any ExpiringActivity = SystemExpiringActivity(),
        observer: (@Sendable (SessionEvent) -> Void)? = nil
    ) {
        self.handler = handler
        self.revocation = revocation ?? (handler as? any TokenRevocationHandler)
        self.policy = policy
        self.clock = clock
        self.activity = activity
        self.observer = observer
        access = StoreAccess(store: store)
        let settings = MachineSettings(
            policy: policy,
            isShared: store is any SharedTokenStore,
            owner: .newEngine(),
            tolerance: handler.replayTolerance
        )
        core = Locked(CoordinatorCore(machine: RefreshStateMachine(settings: settings, random: .system)))
    }

    deinit {
        let (tasks, subscribers) = core.withLock { core in
            Self.flush(core.machine.unsavedContent, after: core.write, Array(core.leases.values), access, clock)
            core.leases = [:]
            return (core.timers.values + [core.watcher].compactMap(\.self), Array(core.subscribers.values))
        }
        for task in tasks { task.cancel() }
        for subscriber in subscribers { subscriber.finish() }
    }

    // MARK: TokenProvider

    /// See `TokenProvider.token()`.
    ///
    /// - Returns: A token that is not known to be expired.
    /// - Throws: `AuthenticationError`, or `CancellationError`.
    /// - Complexity: With a valid token O(1): one lock, no suspension, no allocation.
    public func token() async throws -> SessionToken {
        let uptime = clock.uptime
        if let token = core.withLock({ $0.machine.readyToken(at: uptime) }) { return token }
        return try await response(to: .token).token
    }

    /// See `TokenProvider.replacement(after:)`.
    ///
    /// - Parameter refusal: The token that the request carried, and what is known of the refusal.
    /// - Returns: A token of the same session, other than the refused one.
    /// - Throws: `AuthenticationError`, or `CancellationError`.
    public func replacement(after refusal: TokenRefusal) async throws -> SessionToken {
        try await response(to: .replacement(refusal)).token
    }

    /// See `TokenProvider.noteServerDate(_:)`.
    ///
    /// - Parameter date: The `Date` of a response, on the server's clock.
    public func noteServerDate(_ date: Date) {
        send(.serverDateNoted(date))
    }

    // MARK: AuthSession

    /// The last published state. It does not wait for the store.
    public var state: SessionState { core.withLock { $0.machine.published } }

    /// The states from now on, the current one first.
    public var states: AsyncStream<SessionState> {
        let (stream, continuation) = AsyncStream.makeStream(of: SessionState.self)
        core.withLock { core in
            let id = core.nextNumber()
            core.subscribers[id] = continuation
            continuation.yield(core.machine.published)
            continuation.onTermination = { [weak self] _ in
                self?.core.withLock { _ = $0.subscribers.removeValue(forKey: id) }
            }
        }
        return stream
    }

    /// See `AuthSession.restore()`.
    ///
    /// - Returns: The state once the store has been read.
    /// - Throws: `AuthenticationError` with code `storeUnavailable`, or `CancellationError`.
    @discardableResult
    public func restore() async throws -> SessionState {
        try await response { .requested(.restore, $0) }.state
    }

    /// See `AuthSession.signIn(_:)`. The sign-in is completed even if the task is cancelled.
    ///
    /// - Parameter tokens: What the server issued.
    /// - Throws: `AuthenticationError` with code `invalidTokens`, or `CancellationError`.
    public func signIn(_ tokens: TokenRefreshResult) async throws {
        _ = try await response { .signIn(tokens, SessionID(), $0) }.get()
    }

    /// See `AuthSession.refresh()`.
    ///
    /// - Returns: The state afterwards.
    /// - Throws: `AuthenticationError`, or `CancellationError`.
    @discardableResult
    public func refresh() async throws -> SessionState {
        try await response(to: .refresh).state
    }

    /// See `AuthSession.signOut(reason:)`. The sign-out is completed even if the task is cancelled.
    ///
    /// While the store cannot be read, the session to end is not known. The call then throws, and the sign-out is
    /// completed as soon as the store can be read; a later sign-in replaces it.
    ///
    /// The call also waits for the revocation, at most for the policy's `deadline`. A revocation that fails is reported
    /// as ``SessionEvent/revocationFailed(session:)`` and not thrown.
    ///
    /// - Parameter reason: `byUser`, or a reason of the application.
    /// - Throws: `AuthenticationError` with code `storeUnavailable`, or `CancellationError`.
    public func signOut(reason: SignOutReason) async throws {
        let response = await response { .signOut(reason, $0) }
        await endOfRevocations()
        _ = try response.get()
        try Task.checkCancellation()
    }

    // MARK: Work under way

    /// Whether no refresh and no write is under way, and everything is stored.
    var isIdle: Bool { core.withLock { $0.machine.isIdle } }

    /// The current status of the session, for a support screen or a status command (G24).
    public var status: SessionStatus { core.withLock { $0.machine.status } }

    /// Waits until no work is under way: no refresh, no write to the store, no revocation. A program calls it before it
    /// exits, so that a refresh in the background is not lost (G12).
    ///
    /// - Parameter limit: The longest wait. Default: 30 s.
    /// - Returns: Whether all work has ended. `false` when the limit passed, or the task was cancelled, first; and at
    ///   once in the handler's own task, which is part of that work (G20).
    @discardableResult
    public func settle(within limit: Duration = .seconds(30)) async -> Bool {
        guard Self.refreshing != ObjectIdentifier(self) else { return false }
        let isDone = try? await clock.withDeadline(clock.uptime + limit) {
            guard case .done = await self.response(to: { .requested(.settle, $0) }) else { return false }
            await self.endOfRevocations()
            return !Task.isCancelled
        }
        return isDone ?? false
    }
}
