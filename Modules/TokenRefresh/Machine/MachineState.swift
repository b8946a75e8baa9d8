import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The state of the machine, and what each event makes of it. ``RefreshStateMachine`` keeps it private.
struct MachineState: Hashable, Sendable {
    enum State: Hashable, Sendable {
        case unknown(Restoring)
        case signedOut(SignOutReason)
        case signedIn(Placed<ActiveSession>)
        /// A rule of the session is at work and has it: no rule of the machine sees this.
        case modifying
    }

    /// The state of the first read.
    struct Restoring: Hashable, Sendable {
        var isReading = false
        var isTimed = false
        var failures = 0
    }

    /// A check of a shared store, without the lease, for what another process has done.
    struct StoreCheck: Hashable, Sendable {
        var isUnderWay = false
        /// A write of this process has ended, or an attempt has read the store, since the check started: it may have
        /// seen older content, such as the session that the user has just left.
        var isStale = false
        /// The check under way started too early for later callers, or for a report of a change.
        var mustRepeat = false
        /// A change was reported during the first read, or a check has ended during a write of this process, and counts
        /// for nothing: a check follows.
        var isOwed = false
        /// How many checks in a row could not read the store.
        var failures = 0
        var isTimed = false
    }

    /// What is given up once a version is written.
    struct Revocable: Hashable, Sendable {
        enum Subject: Hashable, Sendable {
            /// Tokens are revoked (G9).
            case tokens(TokenBundle)
            /// A key is released (G34).
            case key(TokenBinding)
        }

        let subject: Subject
        let session: SessionID
        let version: Int
    }

    /// A token that can be used without an event, and until when.
    struct ReadyToken: Hashable, Sendable {
        let token: SessionToken
        let until: Duration?

        func token(at uptime: Duration) -> SessionToken? { until.isReached(at: uptime) ? nil : token }
    }

    /// The case of the state without its values.
    enum StateKind { case unknown, signedOut, activating, signedIn }

    var state: State = .unknown(Restoring())
    /// `nil` while a rule of the session has it: see ``modifySession(_:)``.
    var context: MachineContext!
    var check = StoreCheck()
    var storeFailure: TokenStoreError?
    var lastEnding: SignOutReason?
    /// The generations of the sessions that were revoked, or wait for it: those that the store may still hold.
    var revoked: [SessionID: Int] = [:]
    /// Tokens and keys that are given up once a version is written, so that other processes can read why they are
    /// refused, or missing.
    var revocable: [Revocable] = []

    /// The last published state.
    var published: SessionState = .unknown

    /// The token that can be used without an event (G18). Updated after each event.
    var ready: ReadyToken?

    init(settings: MachineSettings, random: RandomSource) {
        context = MachineContext(settings: settings, random: random)
    }

    /// The tokens in use.
    var current: (bundle: TokenBundle, expiry: Expiry)? {
        if case .signedIn(let session) = state {
            (session.bundle, session.validity.expiry)
        } else {
            nil
        }
    }

    /// The content that is not stored yet.
    var unsavedContent: StoreContent? { context.store.missing }

    var status: SessionStatus {
        var status = SessionStatus()
        status.state = published
        status.isStored = !context.store.isBehind
        status.storeFailure = storeFailure
        status.lastEnding = lastEnding
        status.isSignOutPending = context.store.isEnding
        if case .signedIn(let session) = state { session.value.fill(&status, context.settings) }
        return status
    }

    /// Takes an event. Returns what the shell must do, in this order.
    mutating func handle(_ event: RefreshEvent, at now: Instant) -> [RefreshAction] {
        context.moment.advance(to: now)
        func waiter(_ id: WaiterID, _ request: CallerRequest) -> Waiter {
            Waiter(id: id, request: request, since: now.uptime)
        }
        switch event {
        case .requested(let request, let id): requested(waiter(id, request))
        case .waiterCancelled(let id): cancel(id)
        case .signIn(let tokens, let session, let id): signIn(tokens.plausible, session, waiter(id, .settle))
        case .stepUp(let tokens, let session, let id): stepUp(tokens.plausible, session, waiter(id, .settle))
        case .signOut(let reason, let id): signOut(reason, waiter(id, .settle))
        case .serverDateNoted(let date): serverDateNoted(date)
        case .storeChanged: storeChanged()
        case .suspensionNear: suspensionNear()
        case .read(let purpose, let result, let ownerMayCall, let ending, let noted):
            context.order.learn(try? result.get(), journal: noted)
            read(purpose, result, ownerMayCall: ownerMayCall, ending)
        case .leased(let id, let identity):
            context.take(lease: id, identity)
            modifySession { $0.leased() }
        case .leaseFailed(let id, let error):
            context.lease.requestEnded()
            modifySession { $0.leaseFailed(id, error) }
        case .leaseHeld(let holder): modifySession { $0.leaseHeld(by: holder) }
        case .leaseLost(let id): leaseLost(id)
        case .wrote(let version, let outcome): wrote(version, outcome)
        case .noted(let version): context.store.note(version)
        case .callNotMade(let id, let error): callNotMade(id, error)
        case .responded(let id, let base, let result): responded(id, base: base, result.map(\.plausible))
        case .timerFired(let timer): timerFired(timer)
        }
        if context.storeMayHaveChanged {
            context.storeMayHaveChanged = false
            if check.isUnderWay { check.isStale = true }
        }
        checkForWaiters()
        releaseLeases()
        respondToSettleWaiters()
        var ready: ReadyToken?
        modifySession { ready = $0.readyToken() }
        self.ready = ready
        return context.takeActions()
    }

    mutating func timerFired(_ timer: RefreshTimer) {
        guard context.hasPassed(timer) else { return }
        switch timer {
        case .deadline(let id): modifySession { $0.deadlinePassed(id) }
        case .waiterDeadline: modifySession { $0.waiterDeadlinePassed() }
        case .callLimit(let id): callLimitPassed(id)
        case .abandonment(let id):
            modifySession { $0.abandonmentDue(id) }
            if let call = context.lease.endedCalls.removeValue(forKey: id) {
                context.emit(.report(.callAbandoned(session: call.session, generation: call.generation)))
            }
        case .cooldown(let id):
            modifySession { if $0.bundle.session == id && !$0.isActivating { $0.serveQueue() } }
        case .writeDeadline(let version): writeTookTooLong(version)
        case .storeRetry: context.beginWriting()
        case .reload: storeChanged()
        case .loadDeadline: loadTookTooLong()
        case .checkDeadline: checkTookTooLong()
        }
    }

    mutating func callLimitPassed(_ id: AttemptID) {
        var isCurrent = false
        modifySession { isCurrent = $0.callLimitPassed(id) }
        guard !isCurrent else { return }
        // The call of a session that has ended is cancelled at its limit.
        context.emit(.cancelCall(id))
        context.limitCall(.abandonment(id), at: context.now.uptime + context.policy.abandonAfter)
    }

    /// Lets the session handle an event, and applies the outcome. The session is taken out of the state meanwhile, and
    /// has the context, so that changing the two copies nothing.
    mutating func modifySession(_ body: (inout ActiveSession) -> Void) {
        guard case .signedIn(var session) = state else { return }
        state = .modifying
        swap(&session.value.context, &context)
        body(&session.value)
        swap(&session.value.context, &context)
        state = .signedIn(session)
        switch context.takeOutcome() {
        case .ends(let reason, let revoked, let inStore)?: end(reason, revoking: revoked, inStore: inStore)
        case .isReplaced(let bundle)?: replaceSession(by: bundle)
        case nil: break
        }
    }

    // MARK: After each event

    /// Rule 2. Before a suspension the intent of a call is marked first: a call may have been made since the suspension
    /// was announced.
    mutating func releaseLeases() {
        guard !context.lease.isFree else { return }
        if context.lease.isSuspending, !context.store.isBehind { modifySession { $0.suspensionNear() } }
        var session: Placed<ActiveSession>?
        if case .signedIn(let current) = state { session = current }
        for id in context.lease.release(neededBy: session, context.store) { context.emit(.release(id)) }
    }

    mutating func respondToSettleWaiters() {
        guard !context.room.isEmpty(.settle), isIdle else { return }
        for waiter in context.room.take(.settle) { context.emit(.respond(waiter.id, .done)) }
    }

    func pauseEnd(at uptime: Duration) -> Duration? {
        guard case .signedIn(let session) = state, let until = session.failure?.until else { return nil }
        return until > uptime ? until : nil
    }

    var isIdle: Bool {
        guard !context.store.isBehind, !check.isUnderWay, !context.isCalling else { return false }
        switch state {
        case .unknown(let restoring): return !restoring.isReading
        case .signedOut, .modifying: return true
        case .signedIn(let session): return session.isIdle
        }
    }
}

extension Duration? {
    /// Whether an instant is no longer before an end, if there is one.
    func isReached(at uptime: Duration) -> Bool { if let self { uptime >= self } else { false } }
}
