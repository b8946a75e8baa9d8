import AuthInterface
import Foundation

/// What an event means for the session as a whole.
enum SessionOutcome: Sendable {
    case goesOn
    /// The session is over. `inStore`: the store knows already.
    case ends(SignOutReason, revoking: TokenBundle?, inStore: Bool)
    /// Another process has signed in, and the store holds its session.
    case isReplaced(by: TokenBundle)
}

/// A session, and the refresh of its tokens.
///
/// ```
/// activating ──stored──► resting ──a request needs it──► refreshing ──► resting
///                          (shared store: leasing → reading →) recording → calling → storing
///                                            │                  │           └ rejected → verifying
///                                            └ newer: adopted   └ not writable: no call (G27)
/// ```
/// The call outlives the attempt: at the deadline those who wait are told, and the call keeps its place, and the lease,
/// until it has ended or was abandoned (rule 2, G8).
struct ActiveSession: Hashable, Sendable {
    private enum Phase: Hashable, Sendable {
        /// A sign-in waits for its tokens to be stored. No request uses them before (G11).
        case activating(version: Int)
        case resting
        case refreshing(AttemptID, Stage)
    }

    private enum Stage: Hashable, Sendable {
        /// Another process may hold the lease.
        case leasing
        /// Another process may have refreshed already.
        case reading
        /// The intent is on its way to the store (G27).
        case recording(Recording)
        /// The handler is at work.
        case calling(isReplay: Bool)
        /// The server has rejected the refresh token; another process may have newer ones.
        case verifying(TokenRefreshError)
        /// The new tokens are on their way to the store (G11).
        case storing(TokenBundle, Expiry, version: Int)
    }

    /// An intent on its way to the store.
    private struct Recording: Hashable, Sendable {
        let intent: RefreshIntent
        let version: Int
        let since: Duration
        /// When the call is not made any more: other processes count on its end from the date of the intent.
        let callBefore: Duration
    }

    /// Whether a call may be made where an intent was found (rule 4).
    private enum Turn {
        case now
        /// Another call may be under way, and the server forgives this one until then.
        case forgiven(until: Duration?)
        case later(in: Duration)
    }

    /// The call that spends, or has spent, the current refresh token.
    private struct Call: Hashable, Sendable {
        let id: AttemptID
        let startedAt: Duration
        /// The generation of the bundle whose refresh token it spends.
        let generation: Int
        /// The record that the store holds, or is to hold.
        let intent: RefreshIntent
        /// It has passed its last limit.
        var isCancelled = false
        /// It has not ended although it was cancelled.
        var isAbandoned = false
        /// The write that marks its intent: it was abandoned, or the process is about to be suspended.
        var mark: Int?

        /// Whether a failure means that the response was lost, and not that the server has answered.
        func isLost(by error: TokenRefreshError) -> Bool {
            !isCancelled && error.code == .unavailable && error.status == nil
        }
    }

    /// The last failed attempt (G6).
    private struct Failure: Hashable, Sendable {
        let error: TokenRefreshError
        let at: Duration
        let until: Duration
        /// How many attempts have failed in a row.
        let inARow: Int
    }

    private struct SeenIntent: Hashable, Sendable {
        let intent: RefreshIntent
        let at: Duration
    }

    /// The tokens in use. A record of a pending refresh is in the store only.
    private(set) var bundle: TokenBundle
    private(set) var expiry: Expiry
    /// Whether the store is known to have held a bundle of this session.
    private(set) var isStored: Bool
    /// Whether the store is known to have held the tokens in use.
    private var isTokenStored: Bool
    private var replaced: EndScope

    private var phase: Phase
    private var call: Call?
    private var waiting = Waiters()
    /// Those who wait for a pause to end, or for a sign-in to be stored.
    private var queue = Waiters()
    /// The key of the calls with the current refresh token, once there was one (G12).
    private var key: String?
    private var failure: Failure?
    private var failures = 0
    private var wasAmbiguous = false
    private var loops = LoopBreaker()
    /// When this process refreshed last.
    private var refreshedAt: Duration?
    private var lastRefresh: Date?
    /// Whether the expiry was counted from the receipt in this process, on the monotonic clock.
    private var isCountedFromReceipt: Bool
    /// What had been learned of the store when it was last read for an attempt.
    private var readAt = 0
    /// Another process's intent, and when this process first saw it.
    private var seenIntent: SeenIntent?

    /// A session that was signed in here. `scope`: whose tokens it replaces in the store.
    init(signedIn bundle: TokenBundle, _ expiry: Expiry, replacing scope: EndScope, _ context: inout MachineContext) {
        self.bundle = bundle
        self.expiry = expiry
        isStored = false
        isTokenStored = false
        isCountedFromReceipt = true
        replaced = scope
        phase = .resting
        phase = .activating(version: context.write(.bundle(bundle, over: .anything)))
    }

    /// A session that the store holds.
    init(stored bundle: TokenBundle, _ context: MachineContext) {
        self.bundle = bundle.with(pendingRefresh: nil)
        expiry = context.expiry(ofStored: bundle)
        isStored = true
        isTokenStored = true
        isCountedFromReceipt = false
        replaced = .sessions(bundle.session, replacing: [])
        phase = .resting
        key = bundle.pendingRefresh?.idempotencyKey
    }

    // MARK: What is known

    var isActivating: Bool { if case .activating = phase { true } else { false } }

    /// Whether the lease is needed: a call or a write owns it until it has ended (rule 2).
    var needsLease: Bool {
        if call != nil { return true }
        if case .refreshing(_, let stage) = phase {
            if case .leasing = stage { return false }
            return true
        }
        return false
    }

    var isIdle: Bool {
        if case .resting = phase { call == nil } else { false }
    }

    /// Whose tokens the store loses when the session ends.
    var endScope: EndScope { isStored ? .sessions(bundle.session, replacing: []) : replaced }

    /// The newest tokens of the session, those on their way to the store included: revoking older ones might leave the
    /// newest valid.
    var newestBundle: TokenBundle {
        if case .refreshing(_, .storing(let bundle, _, _)) = phase { bundle } else { bundle }
    }

    /// The token that costs nothing, and until when (G18).
    func readyToken(_ now: Instant) -> (token: SessionToken, until: Duration?)? {
        guard !isActivating else { return nil }
        guard isRefreshable else { return (token(), expiry.end) }
        guard let aheadFrom = expiry.aheadFrom, let leewayFrom = expiry.leewayFrom else { return (token(), nil) }
        // While no refresh can be started anyway, a valid token needs no look at the rules.
        guard canStart else { return (token(), leewayFrom) }
        return (token(), min(leewayFrom, max(aheadFrom, failure?.until ?? aheadFrom)))
    }

    private var isRefreshable: Bool { bundle.refreshToken?.isEmpty == false }

    private var canStart: Bool {
        guard case .resting = phase, call == nil else { return false }
        return true
    }

    private func token(replacedAt uptime: Duration? = nil) -> SessionToken {
        var token = bundle.token
        token.handout = .init(failures: failures, replacedAt: uptime)
        return token
    }

    private func pauseLeft(_ uptime: Duration) -> Duration? {
        failure.flatMap { $0.until > uptime ? $0.until - uptime : nil }
    }

    func fill(_ status: inout SessionStatus) {
        status.generation = bundle.generation
        status.isRefreshable = isRefreshable
        status.isRefreshing = !canStart && !isActivating
        status.expiresAt = bundle.expiresAt
        status.lastRefresh = lastRefresh
        status.lastFailure = failure?.error
    }

    /// The first read shows what a sign-in that came before it replaces in the store.
    mutating func noteReplaced(_ found: StoredSession?) {
        guard isActivating, case .active(let stored)? = found, stored.session != bundle.session else { return }
        replaced = EndScope.sessions(stored.session, replacing: replaced.sessions).followed(by: bundle.session)
    }

    // MARK: Requests

    mutating func asked(_ waiter: Waiter, _ context: inout MachineContext) -> SessionOutcome {
        switch waiter.wish {
        case .token: return giveToken(to: waiter, &context)
        case .replacement(let refusal): return tokenRefused(refusal, waiter, &context)
        case .refresh:
            guard isRefreshable else {
                refuse(waiter, .noRefreshToken, &context)
                return .goesOn
            }
            waitForRefresh(waiter, &context)
            return .goesOn
        case .restore, .settle: return .goesOn
        }
    }

    mutating func cancel(_ waiter: WaiterID) -> Bool {
        waiting.remove(waiter) || queue.remove(waiter)
    }

    /// Gives the current token, or lets the caller wait for a better one (G3).
    private mutating func giveToken(to waiter: Waiter, _ context: inout MachineContext) -> SessionOutcome {
        guard !isActivating else {
            queue.add(waiter)
            return .goesOn
        }
        let uptime = context.now.uptime
        let mayRefresh = isRefreshable && canStart && pauseLeft(uptime) == nil
        let isWaitUseful: Bool
        switch expiry.urgency(at: uptime) {
        case .none: isWaitUseful = false
        case .ahead:
            isWaitUseful = false
            if mayRefresh { start(&context) }
        case .due: isWaitUseful = mayRefresh || isRefreshing
        case .expired:
            guard isRefreshable else { return withoutRefreshToken(waiter, &context) }
            isWaitUseful = true
        }
        if isWaitUseful {
            waitForRefresh(waiter, &context)
        } else {
            give(waiter, &context)
        }
        return .goesOn
    }

    private var isRefreshing: Bool { if case .refreshing = phase { true } else { false } }

    /// G22. A wrong clock does not end a session: where the server's clock is not known, the server decides.
    private mutating func withoutRefreshToken(_ waiter: Waiter, _ context: inout MachineContext) -> SessionOutcome {
        guard isExpiryCertain(context) else {
            give(waiter, &context)
            return .goesOn
        }
        refuse(waiter, .noRefreshToken, &context)
        return .ends(.expired(ending(nil, context)), revoking: nil, inStore: false)
    }

    /// Whether no clock that can be set has a part in the expiry.
    private func isExpiryCertain(_ context: MachineContext) -> Bool {
        isCountedFromReceipt || (context.serverClock.isKnown && bundle.isDatedByServer)
    }

    private mutating func tokenRefused(
        _ refusal: TokenRefusal,
        _ waiter: Waiter,
        _ context: inout MachineContext
    ) -> SessionOutcome {
        let refused = refusal.token
        let uptime = context.now.uptime
        // G23. A request that began as one user must not be sent again as another.
        guard refused.session == bundle.session else {
            refuse(waiter, .sessionEnded, &context)
            return .goesOn
        }
        // G2. Request B was sent with the old token and is refused after A's refresh is done. The refusal says nothing
        // about the current token. Another refresh would spend the new refresh token for nothing, and a server that
        // rotates may take that for theft. The same when another process's token has taken the place of ours.
        let isLate =
            refused.generation < bundle.generation
            || (refused.generation == bundle.generation && refused.value != bundle.accessToken)
        if isLate { return giveToken(to: waiter, &context) }
        guard isRefreshable else { return refusedWithoutRefreshToken(refusal, waiter, &context) }
        if isRefreshing || isActivating {
            waitForRefresh(waiter, &context)
            return .goesOn
        }
        // G6. A request that was sent before the last attempt failed shares that failure.
        if let failure, refused.handout.failures < failures {
            let end = max(failure.until, failure.at + context.policy.failureSharing)
            if uptime < end {
                fail(waiter, failure.error, retryAfter: end - uptime, &context)
                return .goesOn
            }
        }
        if let pause = pauseAfterLoop(refusal, &context) {
            answerUnauthorized(waiter, refusal, pause, &context)
            return .goesOn
        }
        waitForRefresh(waiter, &context)
        return .goesOn
    }

    private func refusedWithoutRefreshToken(
        _ refusal: TokenRefusal,
        _ waiter: Waiter,
        _ context: inout MachineContext
    ) -> SessionOutcome {
        refuse(waiter, .noRefreshToken, &context)
        let isExpired =
            expiry.urgency(at: context.now.uptime) == .expired && isExpiryCertain(context)
        guard isExpired || refusal.saysTokenIsInvalid else { return .goesOn }
        var ending = ending(nil, context)
        (ending.status, ending.code, ending.requestID) = (refusal.status, refusal.serverCode, refusal.requestID)
        return .ends(.expired(ending), revoking: nil, inStore: false)
    }

    /// G10: how long the refusing endpoint causes no refresh.
    private mutating func pauseAfterLoop(_ refusal: TokenRefusal, _ context: inout MachineContext) -> Duration? {
        let (uptime, policy) = (context.now.uptime, context.policy)
        guard expiry.urgency(at: uptime) != .expired else { return nil }
        if let pause = loops.pause(of: refusal.endpoint, at: uptime) { return pause }
        let isReplacement = refusal.token.handout.replacedAt.map { uptime < $0 + policy.freshness } ?? false
        let isFresh = refreshedAt.map { uptime < $0 + policy.freshness } ?? false
        guard isReplacement || isFresh else { return nil }
        let outcome = loops.refused(
            by: refusal.endpoint, isReplacement: isReplacement, at: uptime, cooldown: policy.refusalCooldown
        )
        guard case .unauthorized(let pause, let isNew) = outcome else { return nil }
        if isNew {
            let (session, generation) = (bundle.session, bundle.generation)
            context.emit(
                .report(.refusedAfterRefresh(session: session, generation: generation, retryAfter: pause))
            )
        }
        return pause
    }

    /// Looks into a shared store first: another process may have replaced the token (G10).
    private mutating func answerUnauthorized(
        _ waiter: Waiter,
        _ refusal: TokenRefusal,
        _ pause: Duration,
        _ context: inout MachineContext
    ) {
        guard context.settings.isShared, !context.store.isBehind else {
            return refuse(waiter, .unauthorized, retryAfter: pause, &context)
        }
        context.look(for: waiter)
    }

    /// The store was looked at for a caller whose endpoint has refused a token that was just refreshed (G10).
    mutating func serveLooker(_ waiter: Waiter, _ context: inout MachineContext) -> SessionOutcome {
        guard case .replacement(let refusal) = waiter.wish, refusal.token.session == bundle.session else {
            refuse(waiter, .sessionEnded, &context)
            return .goesOn
        }
        if refusal.token.value != bundle.accessToken { return giveToken(to: waiter, &context) }
        if isRefreshing {
            // What the look has found is taken up by the attempt under way.
            waiting.add(waiter)
        } else {
            let pause = loops.pause(of: refusal.endpoint, at: context.now.uptime)
            refuse(waiter, .unauthorized, retryAfter: pause ?? .zero, &context)
        }
        return .goesOn
    }

    /// Joins the refresh under way, or starts one; during a pause waits for its end if that is near (G1, G6).
    private mutating func waitForRefresh(_ waiter: Waiter, _ context: inout MachineContext) {
        switch phase {
        case .activating:
            queue.add(waiter)
        case .refreshing:
            waiting.add(waiter)
        case .resting where call != nil:
            // G8. The call of an attempt that missed its deadline is still under way: there is no second one.
            let error = failure?.error ?? TokenRefreshError(.unavailable, reason: "a refresh is still under way")
            fail(waiter, error, retryAfter: pauseLeft(context.now.uptime) ?? context.policy.backoff.floor, &context)
        case .resting:
            guard let failure, let left = pauseLeft(context.now.uptime) else {
                waiting.add(waiter)
                return start(&context)
            }
            guard left <= context.policy.patience else {
                return fail(waiter, failure.error, retryAfter: left, &context)
            }
            if queue.isEmpty { context.emit(.startTimer(.cooldown(bundle.session), at: failure.until)) }
            queue.add(waiter)
        }
    }

    private func give(_ waiter: Waiter, _ context: inout MachineContext) {
        switch waiter.wish {
        case .token: context.emit(.answer(waiter.id, .token(token())))
        case .replacement: context.emit(.answer(waiter.id, .token(token(replacedAt: context.now.uptime))))
        case .refresh, .restore, .settle: context.emit(.answer(waiter.id, .state(.signedIn(bundle.session))))
        }
    }

    private func refuse(
        _ waiter: Waiter,
        _ code: AuthenticationError.Code,
        retryAfter: Duration? = nil,
        _ context: inout MachineContext
    ) {
        context.emit(.answer(waiter.id, .failed(AuthenticationError(code, retryAfter: retryAfter))))
    }

    private func fail(
        _ waiter: Waiter,
        _ error: TokenRefreshError,
        retryAfter: Duration,
        _ context: inout MachineContext
    ) {
        context.emit(.answer(waiter.id, .failed(.unavailable(error, retryAfter: retryAfter))))
    }

    /// Lets those who waited for a pause to end, or for a sign-in to be stored, ask again.
    mutating func serveQueue(_ context: inout MachineContext) -> SessionOutcome {
        var outcome = SessionOutcome.goesOn
        for waiter in queue.takeAll() {
            if case .goesOn = outcome {
                outcome = askedAgain(waiter, &context)
            } else {
                // The session is over for the rest, too.
                waiting.add(waiter)
            }
        }
        return outcome
    }

    /// A refusal that was to cause a refresh before the pause does so after it, unless the token has changed.
    private mutating func askedAgain(_ waiter: Waiter, _ context: inout MachineContext) -> SessionOutcome {
        guard case .replacement(let refusal) = waiter.wish, refusal.token.value == bundle.accessToken,
            refusal.token.session == bundle.session, isRefreshable
        else { return asked(waiter, &context) }
        waitForRefresh(waiter, &context)
        return .goesOn
    }

    /// Takes out every caller who waits: the session is over (G23).
    mutating func takeWaiters() -> [Waiter] {
        waiting.takeAll() + queue.takeAll()
    }

    // MARK: The attempt, until the call

    private mutating func start(_ context: inout MachineContext) {
        let id = context.nextAttempt()
        context.emit(.report(.refreshStarted(session: bundle.session, generation: bundle.generation)))
        // Those who waited for a pause to end are served by this attempt.
        let queued = queue.takeAll()
        for waiter in queued { waiting.add(waiter) }
        // They have waited already: the limit is for the whole wait (G25).
        let (uptime, limit) = (context.now.uptime, context.policy.deadline)
        let since = min(queued.first?.since ?? uptime, uptime)
        context.emit(.startTimer(.deadline(id), at: max(since + limit, uptime + limit / 2)))
        guard context.settings.isShared else { return record(over: nil, id, &context) }
        // A lease that is still held, because a save has failed, serves the next attempt too.
        if context.lease != nil {
            read(id, &context)
        } else {
            phase = .refreshing(id, .leasing)
            context.emit(.lease(id))
        }
    }

    private mutating func read(_ id: AttemptID, _ context: inout MachineContext) {
        phase = .refreshing(id, .reading)
        readStore(id, &context)
    }

    private mutating func readStore(_ id: AttemptID, _ context: inout MachineContext) {
        readAt = context.news
        context.emit(.read(.attempt(id)))
    }

    mutating func leased(_ id: AttemptID, _ context: inout MachineContext) {
        guard case .refreshing(id, .leasing) = phase else { return }
        read(id, &context)
    }

    /// A session that never reached its store is refreshed without the lease: no other process has its refresh token.
    /// Should it be stored while the call is under way, the store says so, too, and other processes wait (rule 4).
    mutating func leaseFailed(_ id: AttemptID, _ error: TokenStoreError, _ context: inout MachineContext) {
        guard case .refreshing(id, .leasing) = phase else { return }
        guard isStored || mayBeStored(context) else { return record(over: nil, isAbandoned: true, id, &context) }
        failAttempt(TokenRefreshError(.unavailable, reason: "no lease of the shared store", cause: error), &context)
    }

    /// The store was read again: under the lease, or because the server rejected the refresh token (G13).
    mutating func attemptRead(
        _ id: AttemptID,
        _ result: Result<StoredSession, TokenStoreError>,
        ownerMayCall: Bool,
        _ context: inout MachineContext
    ) -> SessionOutcome {
        guard case .refreshing(id, let stage) = phase else { return .goesOn }
        let rejection: TokenRefreshError?
        switch stage {
        case .reading: rejection = nil
        case .verifying(let error): rejection = error
        case .leasing, .recording, .calling, .storing: return .goesOn
        }
        guard readAt == context.news else {
            // A write of this process has ended meanwhile: the read may have seen what was there before.
            readStore(id, &context)
            return .goesOn
        }
        let found: StoredSession?
        switch result {
        case .success(let content): found = content.readable
        // Nobody can tell what was there, but this process holds valid tokens, and may write them again.
        case .failure(let error) where error.code == .corrupt: found = nil
        case .failure where !isTokenStored && rejection == nil:
            // The store has never held this refresh token: no other process can have spent it.
            record(over: nil, id, &context)
            return .goesOn
        case .failure(let error):
            // Another process may have spent the refresh token: only the store could say. Spending it twice could end
            // the session, and waiting cannot. The same after a rejection: it may be about a token long replaced.
            failAttempt(
                TokenRefreshError(.unavailable, reason: "the store cannot be read", cause: error), &context)
            return .goesOn
        }
        switch found {
        case .ended(let ended) where isStored || ended.session == bundle.session:
            return .ends(ended.reason, revoking: nil, inStore: true)
        case .active(let stored) where stored.session != bundle.session && isStored:
            return .isReplaced(by: stored)
        case .active(let stored) where stored.displaces(bundle):
            return adopt(stored, id, ownerMayCall: ownerMayCall, &context)
        default:
            if let rejection { return end(rejection, context) }
            proceed(found?.bundle, id, ownerMayCall: ownerMayCall, &context)
            return .goesOn
        }
    }

    /// Another process was faster: its tokens are used, and no call is made if they are valid for long enough.
    private mutating func adopt(
        _ found: TokenBundle,
        _ id: AttemptID,
        ownerMayCall: Bool,
        _ context: inout MachineContext
    ) -> SessionOutcome {
        takeUp(found, &context)
        switch expiry.urgency(at: context.now.uptime) {
        case .due, .expired:
            proceed(found, id, ownerMayCall: ownerMayCall, &context)
            return .goesOn
        case .none, .ahead:
            context.emit(.report(.adopted(session: found.session, generation: found.generation)))
            return finishAttempt(&context)
        }
    }

    /// The bundle of another process becomes this one's.
    private mutating func takeUp(_ found: TokenBundle, _ context: inout MachineContext) {
        context.noteNews()
        bundle = found.with(pendingRefresh: nil)
        expiry = context.expiry(ofStored: found)
        isStored = true
        isTokenStored = true
        isCountedFromReceipt = false
        refreshedAt = nil
        key = found.pendingRefresh?.idempotencyKey
        wasAmbiguous = false
    }

    /// The lease is held and nothing newer is stored: the call may be made, unless another one may be under way.
    private mutating func proceed(
        _ found: TokenBundle?,
        _ id: AttemptID,
        ownerMayCall: Bool,
        _ context: inout MachineContext
    ) {
        guard isRefreshable else {
            rest(id, &context)
            for waiter in waiting.takeAll() { refuse(waiter, .noRefreshToken, &context) }
            return
        }
        let stored = found.flatMap { $0.hasSameTokens(as: bundle) ? $0 : nil }
        guard let intent = stored?.pendingRefresh else { return record(over: stored, id, &context) }
        key = intent.idempotencyKey
        switch turn(after: intent, ownerMayCall: ownerMayCall, context) {
        case .now: record(over: stored, id, &context)
        case .forgiven(let end): record(over: stored, isAbandoned: true, callBefore: end, id, &context)
        case .later(let wait):
            let error = TokenRefreshError(.unavailable, reason: "another process may still wait for its response")
            failAttempt(error, atLeast: wait, &context)
        }
    }

    /// Rule 4: the owner of an intent may still be calling. An intent of this process that was recorded over such a one
    /// says nothing about that owner, who may be calling all the same.
    private mutating func turn(after intent: RefreshIntent, ownerMayCall: Bool, _ context: MachineContext) -> Turn {
        let uptime = context.now.uptime
        if intent.owner == context.settings.owner {
            guard seenIntent?.intent.idempotencyKey == intent.idempotencyKey else { return .now }
        } else {
            guard intent.isAbandoned || ownerMayCall else { return .now }
            if seenIntent?.intent != intent { seenIntent = SeenIntent(intent: intent, at: uptime) }
        }
        guard let (rival, seenAt) = seenIntent.map({ ($0.intent, $0.at) }) else { return .now }
        let age = Duration.seconds(min(max(context.now.date.timeIntervalSince(rival.date), 0), 1e9))
        switch context.settings.tolerance {
        case .sameKey: return .forgiven(until: nil)
        case .within(let window) where age < window: return .forgiven(until: uptime + window - age)
        case .none, .within: break
        }
        // The date is another process's word; how long this process has seen the intent is not.
        let known = max(age, uptime - seenAt)
        let limit = context.policy.longestCall
        return known < limit ? .later(in: limit - known) : .now
    }

    /// G27. The store shows that it can be written before the refresh token is spent. That holds for tokens that could not
    /// be stored so far, too: a kill now leaves an older bundle whose intent may bring them back, and after one more call
    /// it cannot. The refresh token of a session of which nothing was ever stored is spent at once: no other process, and
    /// no later start, can use it. When it is stored after all, it is stored with the record.
    private mutating func record(
        over stored: TokenBundle?,
        isAbandoned: Bool = false,
        callBefore: Duration? = nil,
        _ id: AttemptID,
        _ context: inout MachineContext
    ) {
        let intent = RefreshIntent(
            idempotencyKey: currentKey(&context),
            owner: context.settings.owner,
            date: context.now.date,
            isAbandoned: isAbandoned
        )
        let mustWait = isStored || stored != nil || mayBeStored(context)
        let version = context.write(.bundle(bundle.with(pendingRefresh: intent), over: predecessor(stored)))
        if mustWait {
            let uptime = context.now.uptime
            let end = min(uptime + context.policy.deadline, callBefore ?? .seconds(Int32.max))
            let recording = Recording(intent: intent, version: version, since: uptime, callBefore: end)
            phase = .refreshing(id, .recording(recording))
        } else {
            makeCall(intent, since: context.now.uptime, id, &context)
        }
    }

    /// The store has the intent. Time may have passed: a process that was stopped meanwhile must not call when others
    /// believe that it does not.
    private mutating func recorded(_ recording: Recording, _ id: AttemptID, _ context: inout MachineContext) {
        guard context.now.uptime < recording.callBefore else {
            forgetRecord(&context)
            return failAttempt(TokenRefreshError(.unavailable, reason: "the store was too slow for a call"), &context)
        }
        makeCall(recording.intent, since: recording.since, id, &context)
    }

    /// Whether a write that has not ended may have stored the tokens in use already.
    private func mayBeStored(_ context: MachineContext) -> Bool {
        context.store.bundleUnderWay?.hasSameTokens(as: bundle) ?? false
    }

    /// What the tokens in use may be written over: what was read, where these tokens were. A store that has gone back to
    /// an older bundle, as from a backup, is brought up to date.
    private func predecessor(_ read: TokenBundle?) -> StoreContent.Predecessor {
        if let read { return .exactly(read) }
        return isStored ? .older : .anything
    }

    /// No call is made: its record is not wanted any more. Tokens that the store does not hold still are.
    private mutating func forgetRecord(_ context: inout MachineContext) {
        if isTokenStored {
            context.forgetWrites()
        } else {
            _ = context.write(.bundle(bundle, over: predecessor(nil)))
        }
    }

    private mutating func currentKey(_ context: inout MachineContext) -> String {
        let key = key ?? context.newKey()
        self.key = key
        return key
    }

    private mutating func makeCall(
        _ intent: RefreshIntent,
        since: Duration,
        _ id: AttemptID,
        isReplay: Bool = false,
        _ context: inout MachineContext
    ) {
        guard let refreshToken = bundle.refreshToken, !refreshToken.isEmpty else { return rest(id, &context) }
        let request = TokenRefreshRequest(
            refreshToken: refreshToken,
            accessToken: bundle.accessToken,
            session: bundle.session,
            idempotencyKey: currentKey(&context)
        )
        phase = .refreshing(id, .calling(isReplay: isReplay))
        call = Call(id: id, startedAt: context.now.uptime, generation: bundle.generation, intent: intent)
        context.emit(.startTimer(.callLimit(id), at: since + context.policy.longestCall))
        context.emit(.call(id, base: bundle, request))
    }

    // MARK: The response

    mutating func responded(
        _ id: AttemptID,
        base: TokenBundle,
        _ result: Result<TokenRefreshResult, TokenRefreshError>,
        _ context: inout MachineContext
    ) -> SessionOutcome {
        let ended = call.flatMap { $0.id == id ? $0 : nil }
        if ended != nil { endCall(&context) }
        // G9. The tokens have changed since: the response is about a generation that is over.
        guard base.session == bundle.session, base.generation == bundle.generation else {
            context.emit(.report(.responseDropped(session: base.session)))
            return .goesOn
        }
        switch (phase, result) {
        case (.refreshing(_, .storing), _), (.activating, _):
            context.emit(.report(.responseDropped(session: base.session)))
        case (_, .success(let tokens)):
            return received(tokens, id, &context)
        case (.refreshing(id, .calling(let isReplay)), .failure(let error)):
            guard !isReplay, let ended, ended.isLost(by: error), mayReplay(ended, context) else {
                return failed(error, id, &context)
            }
            makeCall(ended.intent, since: context.now.uptime, id, isReplay: true, &context)
        // The attempt has missed its deadline. What the server says of the refresh token counts all the same.
        case (.resting, .failure(let error)) where ended != nil && error.code == .rejected:
            return failed(error, id, &context)
        case (_, .failure): break
        }
        return .goesOn
    }

    private mutating func endCall(_ context: inout MachineContext) {
        guard let id = call?.id else { return }
        call = nil
        context.emit(.stopTimer(.callLimit(id)))
        context.emit(.stopTimer(.abandonment(id)))
    }

    /// G12. Where the server forgives it, a lost response is asked for once more at once, with the same key.
    private func mayReplay(_ call: Call, _ context: MachineContext) -> Bool {
        switch context.settings.tolerance {
        case .none: false
        case .sameKey: true
        case .within(let window): context.now.uptime < call.startedAt + window
        }
    }

    private mutating func failed(
        _ error: TokenRefreshError,
        _ id: AttemptID,
        _ context: inout MachineContext
    ) -> SessionOutcome {
        // G4. Only the authorization server's own refusal ends a session.
        guard isRejection(error, context) else {
            failAttempt(error, &context)
            return .goesOn
        }
        // G13. Another process may have spent the refresh token: its tokens are in the store.
        if case .resting = phase {
            context.emit(.startTimer(.deadline(id), at: context.now.uptime + context.policy.storeDeadline))
        }
        phase = .refreshing(id, .verifying(error))
        readStore(id, &context)
        return .goesOn
    }

    private func isRejection(_ error: TokenRefreshError, _ context: MachineContext) -> Bool {
        switch error.code {
        case .rejected: true
        case .ambiguous:
            switch context.policy.ambiguity {
            case .never: false
            case .always: true
            case .repeated: wasAmbiguous
            }
        default: false
        }
    }

    private func end(_ rejection: TokenRefreshError, _ context: MachineContext) -> SessionOutcome {
        .ends(.expired(ending(rejection, context)), revoking: nil, inStore: false)
    }

    private func ending(_ error: TokenRefreshError?, _ context: MachineContext) -> SessionEnding {
        SessionEnding(
            status: error?.status,
            code: error?.serverCode ?? error?.code.rawValue,
            requestID: error?.requestID,
            date: context.now.date,
            process: context.settings.owner.process
        )
    }

    /// New tokens. They are stored before any request uses them (G11): a token that only memory knows is lost at the
    /// next launch, and with a server that rotates, the session with it.
    private mutating func received(
        _ tokens: TokenRefreshResult,
        _ id: AttemptID,
        _ context: inout MachineContext
    ) -> SessionOutcome {
        // The call of a replay, if one is under way, has nothing more to bring. It keeps its place until it ends.
        if let id = call?.id { context.emit(.cancelCall(id)) }
        let hasNewRefreshToken = tokens.refreshToken.map { !$0.isEmpty && $0 != bundle.refreshToken } ?? false
        key = nil
        guard tokens.accessToken.isHeaderSafe || hasNewRefreshToken else {
            failAttempt(TokenRefreshError(.unavailable, reason: "the new access token is unusable"), &context)
            return .goesOn
        }
        switch phase {
        case .refreshing(id, .calling): break
        case .refreshing(let other, _):
            context.emit(.stopTimer(.deadline(other)))
            fallthrough
        case .resting, .activating:
            let (session, generation) = (bundle.session, bundle.generation + 1)
            context.emit(.report(.lateResponseKept(session: session, generation: generation)))
        }
        let lifetime = context.lifetime(of: tokens)
        let new = bundle.renewed(by: tokens, lifetime: lifetime, context.serverClock, context.now)
        let expiry = Expiry(received: new, lifetime: lifetime, at: context.now.uptime, policy: context.policy)
        let version = context.write(.bundle(new, over: isStored ? .older : .anything))
        phase = .refreshing(id, .storing(new, expiry, version: version))
        return .goesOn
    }

    // MARK: Writes

    mutating func wrote(
        _ version: Int,
        _ content: StoreContent?,
        _ outcome: WriteOutcome,
        _ context: inout MachineContext
    ) -> SessionOutcome {
        guard let content, content.bundle?.session == bundle.session else { return .goesOn }
        if case .written = outcome {
            isStored = true
            if let written = content.bundle, written.hasSameTokens(as: bundle) { isTokenStored = true }
        }
        if let call, call.mark == version { return marked(call, outcome, &context) }
        switch (phase, outcome) {
        case (.activating(version), _):
            return .goesOn
        case (.refreshing(let id, .recording(let recording)), .written) where recording.version == version:
            recorded(recording, id, &context)
        case (.refreshing(let id, .recording(let recording)), .superseded) where recording.version == version:
            context.forgetWrites()
            read(id, &context)
        case (.refreshing(_, .recording(let recording)), .failed(let error)) where recording.version == version:
            forgetRecord(&context)
            failAttempt(
                TokenRefreshError(.unavailable, reason: "the store cannot be written", cause: error), &context)
        case (.refreshing(_, .storing(let bundle, let expiry, version)), .superseded(let found)):
            return superseded(by: found, storing: bundle, expiry, &context)
        case (.refreshing(_, .storing(let bundle, let expiry, version)), .written):
            return commit(bundle, expiry, isStored: true, &context)
        case (.refreshing(_, .storing(let bundle, let expiry, version)), .failed):
            return commit(bundle, expiry, isStored: false, &context)
        case (_, .superseded(let found)) where !context.store.lacks(version):
            return superseded(by: found, storing: nil, nil, &context)
        default: break
        }
        return .goesOn
    }

    /// The store takes too long: it must not hold up the application (G11). The write may still succeed.
    mutating func writeTookTooLong(
        _ version: Int,
        _ error: TokenStoreError,
        _ context: inout MachineContext
    ) -> SessionOutcome {
        switch phase {
        case .refreshing(_, .storing(let bundle, let expiry, version)):
            return commit(bundle, expiry, isStored: false, &context)
        case .refreshing(_, .recording(let recording)) where recording.version == version:
            forgetRecord(&context)
            failAttempt(
                TokenRefreshError(.unavailable, reason: "the store cannot be written", cause: error), &context)
        default: break
        }
        return .goesOn
    }

    /// A sign-in's tokens are in use from here on.
    mutating func activate(_ version: Int) -> Bool {
        guard case .activating(version) = phase else { return false }
        phase = .resting
        return true
    }

    /// The store held something that a refresh must not replace (rule 3): the work of another process.
    private mutating func superseded(
        by found: StoredSession,
        storing new: TokenBundle?,
        _ newExpiry: Expiry?,
        _ context: inout MachineContext
    ) -> SessionOutcome {
        switch found {
        case .ended(let ended):
            return .ends(ended.reason, revoking: new ?? bundle, inStore: true)
        case .active(let stored) where stored.session != bundle.session:
            return .isReplaced(by: stored)
        case .active(let stored) where stored.displaces(bundle):
            context.forgetWrites()
            takeUp(stored, &context)
            context.emit(.report(.adopted(session: stored.session, generation: stored.generation)))
            return finishAttempt(&context)
        case .active, .empty:
            let isSame = found.bundle?.hasSameTokens(as: new ?? bundle) ?? false
            guard let new, let newExpiry else {
                if isSame { isTokenStored = true }
                return .goesOn
            }
            return commit(new, newExpiry, isStored: isSame, &context)
        }
    }

    /// The new tokens are in use from here on.
    private mutating func commit(
        _ new: TokenBundle,
        _ newExpiry: Expiry,
        isStored: Bool,
        _ context: inout MachineContext
    ) -> SessionOutcome {
        isTokenStored = isStored
        bundle = new
        expiry = newExpiry
        isCountedFromReceipt = true
        refreshedAt = context.now.uptime
        lastRefresh = context.now.date
        wasAmbiguous = false
        context.emit(.report(.refreshed(session: new.session, generation: new.generation)))
        return finishAttempt(&context)
    }

    /// All who waited go on with the current token, unless it is over already: a store may take longer to write a token
    /// than the token lives, and a server may issue one that no request can carry. Then there is a pause as after any
    /// failure, and not the next refresh at once.
    private mutating func finishAttempt(_ context: inout MachineContext) -> SessionOutcome {
        if isRefreshing, expiry.urgency(at: context.now.uptime) == .expired {
            failAttempt(TokenRefreshError(.unavailable, reason: "the new access token cannot be used"), &context)
            return .goesOn
        }
        failure = nil
        if case .refreshing(let id, _) = phase { rest(id, &context) }
        for waiter in waiting.takeAll() { give(waiter, &context) }
        for waiter in queue.takeAll() {
            // The wish for a refresh is fulfilled, whichever process has made it.
            if case .refresh = waiter.wish { give(waiter, &context) } else { queue.add(waiter) }
        }
        return serveQueue(&context)
    }

    /// All who waited share the failure (G6), but for those whose token is still valid (G3).
    private mutating func failAttempt(
        _ error: TokenRefreshError,
        atLeast least: Duration = .zero,
        _ context: inout MachineContext
    ) {
        let uptime = context.now.uptime
        let inARow = (failure?.inARow ?? 0) + 1
        let asked = max(min(error.retryAfter ?? .zero, context.policy.maximumRetryAfter), least)
        let pause = max(context.pause(afterFailures: inARow), asked)
        failure = Failure(error: error, at: uptime, until: uptime + pause, inARow: inARow)
        failures += 1
        wasAmbiguous = error.code == .ambiguous
        context.emit(.report(.refreshFailed(session: bundle.session, error: error, retryAfter: pause)))
        if case .refreshing(let id, _) = phase { rest(id, &context) }
        let isValid = expiry.urgency(at: uptime) != .expired
        for waiter in waiting.takeAll() {
            if case .token = waiter.wish, isValid {
                give(waiter, &context)
            } else {
                fail(waiter, error, retryAfter: pause, &context)
            }
        }
    }

    private mutating func rest(_ id: AttemptID, _ context: inout MachineContext) {
        phase = .resting
        context.emit(.stopTimer(.deadline(id)))
    }

    // MARK: Limits

    /// G8: those who wait are told; the call itself goes on.
    mutating func deadlinePassed(_ id: AttemptID, _ context: inout MachineContext) -> SessionOutcome {
        guard case .refreshing(id, let stage) = phase else { return .goesOn }
        let limit = context.policy.deadline.inWords
        switch stage {
        case .calling:
            failAttempt(TokenRefreshError(.unavailable, reason: "no response within \(limit)"), &context)
        case .leasing:
            let reason = "waited \(limit) for the refresh of another process"
            failAttempt(TokenRefreshError(.unavailable, reason: reason), &context)
        case .reading, .recording, .verifying:
            if case .recording = stage { forgetRecord(&context) }
            let reason = "no response from the store within \(limit)"
            failAttempt(
                TokenRefreshError(.unavailable, reason: reason, cause: TokenStoreError(.unavailable, reason: reason)),
                &context
            )
        case .storing(let bundle, let expiry, _):
            return commit(bundle, expiry, isStored: false, &context)
        }
        return .goesOn
    }

    /// G8: the call has passed its last limit and is cancelled. It has a moment to end.
    ///
    /// - Returns: Whether the call is the session's.
    mutating func callLimitPassed(_ id: AttemptID, _ context: inout MachineContext) -> Bool {
        guard call?.id == id else { return false }
        guard call?.isCancelled == false else { return true }
        call?.isCancelled = true
        context.emit(.cancelCall(id))
        context.emit(.startTimer(.abandonment(id), at: context.now.uptime + context.policy.abandonAfter))
        return true
    }

    /// G8: the call did not end when it was cancelled. Its intent is marked, so that every process knows that it may
    /// still be under way, and then it counts as a lost response.
    mutating func abandonmentDue(_ id: AttemptID, _ context: inout MachineContext) {
        guard let call, call.id == id, call.isCancelled, !call.isAbandoned else { return }
        context.emit(.report(.callAbandoned(session: bundle.session, generation: bundle.generation)))
        self.call?.isAbandoned = true
        mark(&context)
    }

    /// The system suspends the process: the lease must go, and the intent says that the call may be under way (rule 4).
    /// An attempt whose call is still to be made ends: without the lease another process may make it.
    mutating func suspensionNear(_ context: inout MachineContext) {
        mark(&context)
        guard context.lease != nil, case .refreshing(_, let stage) = phase else { return }
        switch stage {
        case .leasing, .calling, .storing: return
        case .recording: forgetRecord(&context)
        case .reading, .verifying: break
        }
        failAttempt(TokenRefreshError(.unavailable, reason: "the process is about to be suspended"), &context)
    }

    /// Marks the intent of the call. Tokens on their way to the store make the mark needless.
    private mutating func mark(_ context: inout MachineContext) {
        guard let call else { return }
        guard call.generation == bundle.generation, !isStoring else {
            if call.isAbandoned { abandonCall(&context) }
            return
        }
        let recorded = bundle.with(pendingRefresh: call.intent)
        let over = predecessor(isTokenStored ? recorded : nil)
        self.call?.mark = context.write(.bundle(bundle.with(pendingRefresh: call.intent.abandoned), over: over))
    }

    private mutating func abandonCall(_ context: inout MachineContext) {
        endCall(&context)
        guard case .refreshing(_, .calling) = phase else { return }
        failAttempt(TokenRefreshError(.unavailable, reason: "the call did not end"), &context)
    }

    private var isStoring: Bool { if case .refreshing(_, .storing) = phase { true } else { false } }

    private mutating func marked(
        _ call: Call,
        _ outcome: WriteOutcome,
        _ context: inout MachineContext
    ) -> SessionOutcome {
        // A mark that could not be written is written again: the lease stays until then.
        if case .failed = outcome { return .goesOn }
        self.call?.mark = nil
        if call.isAbandoned { abandonCall(&context) }
        guard case .superseded(let found) = outcome else { return .goesOn }
        return superseded(by: found, storing: nil, nil, &context)
    }

    // MARK: What other processes do

    /// The store was looked at, without the lease.
    mutating func looked(_ found: StoredSession?, _ context: inout MachineContext) -> SessionOutcome {
        guard !isActivating, !context.store.isBehind else { return .goesOn }
        switch found {
        case .ended(let ended) where isStored:
            return .ends(ended.reason, revoking: nil, inStore: true)
        case .active(let stored) where stored.session != bundle.session && isStored:
            return .isReplaced(by: stored)
        case .active(let stored) where stored.displaces(bundle) && canStart:
            takeUp(stored, &context)
            context.emit(.report(.adopted(session: stored.session, generation: stored.generation)))
            return finishAttempt(&context)
        default: return .goesOn
        }
    }

    /// G19: the server's clock is known now. The expiry of a token from the store was counted on a clock that can be
    /// set; now it can be counted on the server's.
    mutating func serverClockKnown(_ context: MachineContext) {
        guard !isCountedFromReceipt else { return }
        expiry = context.expiry(ofStored: bundle)
    }
}

extension TokenBundle {
    /// Whether another process's bundle, found in the store, takes the place of this process's.
    ///
    /// Two processes can each have made the same generation: one could not save it, and the other began from what was
    /// saved. The store's is the one that every process can see, so it is the one to use.
    func displaces(_ other: TokenBundle) -> Bool {
        supersedes(other)
            || (session == other.session && generation == other.generation && accessToken != other.accessToken)
    }
}

extension StoredSession {
    /// What counts at an instant when a process starts: the note of a session that ended too long ago counts as nothing.
    /// A process that is in the session still follows it, whatever the clock says.
    func current(at date: Date) -> StoredSession {
        guard case .ended(let ended) = self else { return self }
        return date.timeIntervalSince(ended.date) > EndedSession.lifetime / .seconds(1) ? .empty : self
    }
}

extension AuthenticationError {
    /// A refresh that could not be made, as those who waited for it see it.
    static func unavailable(_ error: TokenRefreshError, retryAfter: Duration) -> AuthenticationError {
        // A store that is busy with the refresh of another process works.
        let isStore = (error.cause as? TokenStoreError).map { $0.code != .busy } ?? false
        return AuthenticationError(
            isStore ? .storeUnavailable : .refreshUnavailable,
            retryAfter: retryAfter,
            cause: isStore ? error.cause : error
        )
    }
}
