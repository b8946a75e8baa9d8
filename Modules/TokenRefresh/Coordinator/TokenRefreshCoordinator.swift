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
///
/// An engine that is released while it has work under way (a call, tokens that are not stored yet) lives on until that
/// is done. For a store that only one process uses, make one engine at a time, or use a ``SessionRegistry``; a later
/// engine waits for such work of an earlier one if the store is a class, an actor or `Hashable`.
public final class TokenRefreshCoordinator: AuthSession, TokenProvider {
    let handler: any TokenRefreshHandler
    let revocation: (any TokenRevocationHandler)?
    let policy: TokenRefreshPolicy
    let clock: any TimeSource
    let activity: any ExpiringActivity
    let observer: (@Sendable (SessionEvent) -> Void)?
    let store: JournaledStore
    /// The key of the engine in ``EnginesAtWork``, and of others on the same store.
    var place: StorePlace { StorePlace(of: store.access.store, in: self) }
    let core: Locked<CoordinatorCore>
    /// The token of the core that needs no event. Its lock is taken under that of the core, or alone.
    let ready = Locked<MachineState.ReadyToken?>(nil)

    /// Creates an engine. It does not access the store or the server before its first use.
    ///
    /// - Parameters:
    ///   - store: Holds the session. A `SharedTokenStore` is shared with other processes (G13).
    ///   - handler: The call that exchanges a refresh token for new tokens.
    ///   - journal: Remembers in another place that a session was here, or is to end (G30). Without one, a sign-out
    ///     that cannot be stored ends with the process, and vanished tokens look as if there had been none.
    ///   - revocation: Revokes tokens that are not used any more. `nil`: the handler, if it is a
    ///     `TokenRevocationHandler` too; otherwise tokens are not revoked.
    ///   - policy: The times and limits.
    ///   - clock: The clocks.
    ///   - activity: Keeps the system from suspending the process while it holds the lease of a shared store.
    ///   - observer: Notified of what the engine does, in no guaranteed order and on any thread. It must not block.
    public init(
        store: any TokenStore,
        handler: any TokenRefreshHandler,
        journal: (any SessionJournal)? = nil,
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
        let access = StoreAccess(store: store, needsToken: handler.needsRefreshToken)
        self.store = JournaledStore(access, journal, storeLimit: policy.storeLimit, clock) {
            observer?(.journalFailed($0))
        }
        let settings = MachineSettings(
            policy: policy, isShared: access.shared != nil, owner: .newEngine(), tolerance: handler.replayTolerance,
            needsRefreshToken: handler.needsRefreshToken, hasJournal: journal != nil)
        core = Locked(CoordinatorCore(machine: RefreshStateMachine(settings: settings)))
    }

    deinit {
        // It is idle, and nothing observes it: no write, call, lease or stream is left.
        let tasks = core.withLock { core in
            core.timers.values.map(\.task) + [core.watcher, core.pause?.wait].compactMap(\.self)
        }
        for task in tasks { task.cancel() }
    }

    // MARK: TokenProvider

    /// See `TokenProvider.token()`.
    ///
    /// - Throws: `AuthenticationError`, or `CancellationError`.
    /// - Complexity: With a valid token O(1): one lock, no suspension, no allocation.
    public func token() async throws -> SessionToken {
        if let token = validToken { return token }
        return try await response(to: .token).token
    }

    /// See `TokenProvider.validToken`. While it must be refreshed, also in the background, it is asked for.
    ///
    /// - Complexity: O(1): one lock, no allocation.
    public var validToken: SessionToken? { ready.withLock { $0 }?.token(at: clock.uptime) }

    /// See `TokenProvider.replacement(after:)`.
    ///
    /// - Throws: `AuthenticationError`, or `CancellationError`.
    public func replacement(after refusal: TokenRefusal) async throws -> SessionToken {
        try await response(to: .replacement(refusal)).token
    }

    /// See `TokenProvider.noteServerDate(_:)`.
    public func noteServerDate(_ date: Date) {
        if core.withLock({ $0.callers.isNew(date) }) { send(.serverDateNoted(date)) }
    }

    // MARK: AuthSession

    /// The last published state. It does not wait for the store.
    public var state: SessionState { core.withLock { $0.machine.published } }

    /// The states from now on, the current one first. A stream keeps the engine, and ends only with its reader.
    public var states: AsyncStream<SessionState> {
        core.withLock { $0.callers.readers.stream(startingWith: $0.machine.published, keeping: self) }
    }

    /// See `AuthSession.restore()`. With a handler that needs no refresh token a session begins where none is, also
    /// after a sign-out, and the refresh that it needs starts: no caller waits for it here.
    ///
    /// - Throws: `AuthenticationError` with code `storeUnavailable`, or `CancellationError`.
    @discardableResult
    public func restore() async throws -> SessionState {
        let state = try await response { .requested(.restore, $0) }.state
        return handler.needsRefreshToken ? state : try await restoreWithoutSignIn(after: state)
    }

    /// See `AuthSession.signIn(_:)`. The sign-in is completed even if the task is cancelled. The store is read first,
    /// for half of its limit at most: what was signed in before is replaced, and no clock counts. A revocation under
    /// way that may end other sessions of the user is cancelled; so it is where another process has signed in.
    ///
    /// - Throws: `AuthenticationError` with code `invalidTokens`, or `CancellationError`.
    public func signIn(_ tokens: TokenRefreshResult) async throws {
        if tokens.accessToken.fitsHeaderField { cancelBroadRevocations() }
        await readOrder()
        _ = try await response { .signIn(tokens, SessionID(), $0) }.get()
    }

    /// See `AuthSession.stepUp(_:)`. The step-up is completed even if the task is cancelled. An engine that has not
    /// read its store restores the session first, which decides whether it goes on.
    ///
    /// - Throws: `AuthenticationError` with code `invalidTokens`, or with `storeUnavailable` while the store cannot be
    ///   read for the first time: pass the tokens again. `CancellationError`.
    public func stepUp(_ tokens: TokenRefreshResult) async throws {
        let known =
            state == .unknown
            ? try await Task.detached(priority: Self.priority) { try await self.restore() }.value : state
        if case .signedOut = known, tokens.accessToken.fitsHeaderField, tokens.bringsRefreshToken {
            cancelBroadRevocations()
        }
        await readOrder()
        _ = try await response { .stepUp(tokens, SessionID(), $0) }.get()
    }

    /// See `AuthSession.refresh()`.
    ///
    /// - Throws: `AuthenticationError`, or `CancellationError`.
    @discardableResult
    public func refresh() async throws -> SessionState {
        try await response(to: .refresh).state
    }

    /// See `AuthSession.signOut(reason:)`. The sign-out is completed even if the task is cancelled.
    ///
    /// While the store cannot be written, the call throws, and the sign-out is completed as soon as the store can be;
    /// a later sign-in replaces it.
    ///
    /// With a journal, the sign-out is written there first (G30). Where the store does not take it then, the call
    /// returns nevertheless: the next start completes it, before it restores anything, and so does every other process
    /// that runs.
    /// ``SessionStatus/isSignOutPending`` says so.
    ///
    /// The call also waits for the revocation, at most for the policy's `deadline`. A revocation that fails is reported
    /// as ``SessionEvent/revocationFailed(session:)`` and not thrown.
    ///
    /// - Parameter reason: `byUser`, or a reason of the application.
    /// - Throws: `AuthenticationError` with code `storeUnavailable`; with a journal, with code `signOutNotStored` where
    ///   neither the store nor the journal takes it: it then ends with the process. `CancellationError`.
    public func signOut(reason: SignOutReason) async throws {
        if state == .unknown { await readOrder() }
        let response = await response { .signOut(reason, $0) }
        // A revocation handler that signs out does not wait for itself.
        if !HandlerCall.isRunning(in: self) { await endOfRevocations() }
        _ = try response.get()
        try Task.checkCancellation()
    }

    // MARK: Work under way

    /// The current status of the session, for a support screen or a status command (G24).
    public var status: SessionStatus {
        core.withLock { core in
            var status = core.machine.status
            status.isWatched = core.isWatched
            status.journalFailure = store.failure
            if status.state == .unknown, store.isEnding { status.isSignOutPending = true }
            return status
        }
    }

    /// Waits until no work is under way: no refresh, no write to the store, no revocation. A program calls it before it
    /// exits, so that a refresh in the background is not lost (G12). The call of a session that has ended counts too:
    /// the tokens that it may bring are revoked (G9).
    ///
    /// - Parameter limit: The longest wait. Default: 30 s.
    /// - Returns: Whether all work has ended. `false` when the limit passed, or the task was cancelled, first; and at
    ///   once in a call of the own handler or revocation handler, which is part of that work (G20).
    @discardableResult
    public func settle(within limit: Duration = .seconds(30)) async -> Bool {
        guard !HandlerCall.isRunning(in: self) else { return false }
        return await isIdle(within: limit) { engine in
            await engine.endOfRevocations()
            await engine.store.settle()
        }
    }
}
