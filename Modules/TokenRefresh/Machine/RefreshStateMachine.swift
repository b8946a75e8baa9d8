import AuthInterface
import Foundation

/// The rules of refreshing, as a value: an event in, a new state and a list of actions out.
///
/// There is no task, clock, lock or I/O in here, so every race can be written down as a sequence of events. The shell,
/// ``TokenRefreshCoordinator``, runs the actions.
///
/// ```
///             load: none, ended          sign-in
///  unknown ──────────────────► signedOut ◄──────► signedIn (ActiveSession)
///     │                            ▲    sign-out,    ▲
///     │                            │    rejected,    │
///     └── load: a bundle ──────────┼──  ended ───────┘
/// ```
struct RefreshStateMachine: Hashable, Sendable {
    private enum State: Hashable, Sendable {
        case unknown(Restoring)
        case signedOut(SignOutReason)
        case signedIn(ActiveSession)
    }

    /// The wait for the store's first answer.
    private struct Restoring: Hashable, Sendable {
        var isReading = false
        var isTimed = false
        var failures = 0
    }

    /// A sign-out that came before the shared store was read: it ends what the first read shows.
    private struct UnreadEnd: Hashable, Sendable {
        let reason: SignOutReason
        let date: Date
        var waiters: [WaiterID]
    }

    /// Looks at a shared store: what another process has done is found out without a lease.
    private struct Look: Hashable, Sendable {
        /// What had been learned of the store when the look under way started; `nil` when none is under way.
        var startedAt: Int?
        /// The look under way started too early for those who have asked since, or for a report.
        var mustRepeat = false
        /// Those who wait for the look under way, and for the one after it.
        var waiters = Waiters()
        var laterWaiters = Waiters()
        var isTimed = false
    }

    /// A token that needs nothing, and until when.
    struct ReadyToken: Hashable, Sendable {
        let token: SessionToken
        let until: Duration?
    }

    /// The state without what is in it. Asking for it keeps no copy of a session, which would make every change of the
    /// session copy its waiters.
    private enum Standing { case unknown, signedOut, activating, signedIn }

    private var state: State = .unknown(Restoring())
    private var context: MachineContext
    /// Those who wait for the store's first answer.
    private var loaders = Waiters()
    /// Those who are told the next state.
    private var restorers = Waiters()
    private var settlers = Waiters()
    private var look = Look()
    private var unreadEnd: UnreadEnd?
    /// A sign-out could not read the store, so it has ended nothing.
    private var failedEnd = false
    private var storeFailure: TokenStoreError?
    private var lastEnding: SignOutReason?
    private var lastRevoked: TokenBundle?
    /// Tokens that are revoked once a version is written: other processes must find out why they are refused.
    private var revocable: [(bundle: TokenBundle, version: Int)] = []
    /// The lease must go as soon as no write is under way: the process is about to be suspended.
    private var isSuspending = false

    /// What was published last.
    private(set) var published: SessionState = .unknown

    /// The token that can be had for nothing, and until when (G18).
    private var ready: ReadyToken?

    init(settings: MachineSettings, random: RandomSource) {
        context = MachineContext(settings: settings, random: random)
    }

    /// The current token, where nothing has to be done for it.
    ///
    /// - Complexity: O(1), without an allocation.
    func readyToken(at uptime: Duration) -> SessionToken? {
        guard let ready else { return nil }
        if let until = ready.until, uptime >= until { return nil }
        return ready.token
    }

    /// The tokens in use, for a look from outside.
    var current: (bundle: TokenBundle, expiry: Expiry)? {
        if case .signedIn(let session) = state { (session.bundle, session.expiry) } else { nil }
    }

    /// What the store should hold, and does not hold yet.
    var unsavedContent: StoreContent? { context.store.missing }

    var status: SessionStatus {
        var status = SessionStatus()
        status.state = published
        status.isStored = !context.store.isBehind
        status.storeFailure = storeFailure
        status.lastEnding = lastEnding
        if case .signedIn(let session) = state { session.fill(&status) }
        return status
    }

    /// Takes an event.
    ///
    /// - Returns: What the shell must do, in this order.
    mutating func handle(_ event: RefreshEvent, at now: Instant) -> [RefreshAction] {
        context.now = now
        switch event {
        case .asked(let wish, let id): asked(Waiter(id: id, wish: wish, since: now.uptime))
        case .waiterCancelled(let waiter): cancel(waiter)
        case .signIn(let tokens, let id, let waiter): signIn(tokens.plausible, id, waiter)
        case .signOut(let reason, let waiter): signOut(reason, waiter)
        case .serverDateNoted(let date): serverDateNoted(date)
        case .storeChanged: storeChanged()
        case .suspensionNear: suspensionNear()
        case .read(.load, let result, _): loaded(result)
        case .read(.look, let result, _): looked(result)
        case .read(.attempt(let id), let result, let ownerMayCall):
            withSession { $0.attemptRead(id, result, ownerMayCall: ownerMayCall, &$1) }
        case .leased(let id):
            context.take(lease: id)
            withSession { $0.leased(id, &$1) }
        case .leaseFailed(let id, let error): withSession { $0.leaseFailed(id, error, &$1) }
        case .wrote(let version, let outcome): wrote(version, outcome)
        case .responded(let id, let base, let result): responded(id, base: base, result.map(\.plausible))
        case .timerFired(let timer): timerFired(timer)
        }
        for waiter in context.takeLookers() { lookFor(waiter) }
        releaseUnneededLease()
        answerSettlers()
        if case .signedIn(let session) = state {
            ready = session.readyToken(now).map { ReadyToken(token: $0.token, until: $0.until) }
        } else {
            ready = nil
        }
        return context.takeActions()
    }

    private mutating func timerFired(_ timer: RefreshTimer) {
        switch timer {
        case .deadline(let id): withSession { $0.deadlinePassed(id, &$1) }
        case .callLimit(let id): callLimitPassed(id)
        case .abandonment(let id): withSession { $0.abandonmentDue(id, &$1) }
        case .cooldown(let id):
            withSession { $0.bundle.session == id && !$0.isActivating ? $0.serveQueue(&$1) : .goesOn }
        case .writeDeadline(let version): writeTookTooLong(version)
        case .storeRetry: context.beginWriting()
        case .reload: load()
        case .loadDeadline: loadTookTooLong()
        case .lookDeadline: lookTookTooLong()
        }
    }

    private mutating func callLimitPassed(_ id: AttemptID) {
        var isCurrent = false
        withSession { isCurrent = $0.callLimitPassed(id, &$1) }
        // The call of a session that is over is of no use, and must not stay for ever.
        if !isCurrent { context.emit(.cancelCall(id)) }
    }

    /// Lets the session handle an event, and draws the consequences. The session is taken out of the state meanwhile, so
    /// that changing it copies nothing.
    private mutating func withSession(_ body: (inout ActiveSession, inout MachineContext) -> SessionOutcome) {
        guard case .signedIn(var session) = state else { return }
        state = .signedOut(.never)
        let outcome = body(&session, &context)
        state = .signedIn(session)
        switch outcome {
        case .goesOn: break
        case .ends(let reason, let revoked, let inStore): end(reason, revoking: revoked, inStore: inStore)
        case .isReplaced(let bundle): replaceSession(by: bundle)
        }
    }

    private mutating func withSession(_ body: (inout ActiveSession, inout MachineContext) -> Void) {
        withSession { session, context in
            body(&session, &context)
            return SessionOutcome.goesOn
        }
    }

    // MARK: Callers

    private var standing: Standing {
        switch state {
        case .unknown: .unknown
        case .signedOut: .signedOut
        case .signedIn(let session): session.isActivating ? .activating : .signedIn
        }
    }

    private mutating func asked(_ waiter: Waiter) {
        switch (waiter.wish, standing) {
        case (.settle, _): settlers.add(waiter)
        case (_, .unknown):
            loaders.add(waiter)
            load()
        case (.restore, .activating): restorers.add(waiter)
        case (.restore, .signedIn), (.restore, .signedOut): restore(waiter)
        case (_, .signedIn), (_, .activating): withSession { $0.asked(waiter, &$1) }
        case (.token, .signedOut): context.emit(.answer(waiter.id, .failed(AuthenticationError(.notSignedIn))))
        case (.replacement, .signedOut): context.emit(.answer(waiter.id, .failed(AuthenticationError(.sessionEnded))))
        case (.refresh, .signedOut): context.emit(.answer(waiter.id, .state(published)))
        }
    }

    /// A shared store is looked at, as another process may have signed in or out. A look that fails changes nothing.
    private mutating func restore(_ waiter: Waiter) {
        guard context.settings.isShared, !context.store.isBehind else {
            context.emit(.answer(waiter.id, .state(published)))
            return
        }
        lookFor(waiter)
    }

    private mutating func cancel(_ waiter: WaiterID) {
        var waited =
            loaders.remove(waiter) || restorers.remove(waiter) || settlers.remove(waiter)
            || look.waiters.remove(waiter) || look.laterWaiters.remove(waiter) || context.store.remove(waiter)
            || cancelUnreadEnd(waiter)
        if !waited { withSession { session, _ in waited = session.cancel(waiter) } }
        if waited { context.emit(.answer(waiter, .cancelled)) }
    }

    private mutating func cancelUnreadEnd(_ waiter: WaiterID) -> Bool {
        guard let index = unreadEnd?.waiters.firstIndex(of: waiter) else { return false }
        unreadEnd?.waiters.remove(at: index)
        return true
    }

    // MARK: The first read

    private mutating func load() {
        guard case .unknown(var restoring) = state else { return }
        if !restoring.isTimed {
            restoring.isTimed = true
            context.emit(.startTimer(.loadDeadline, at: context.now.uptime + loadLimit))
        }
        if !restoring.isReading {
            restoring.isReading = true
            context.emit(.stopTimer(.reload))
            context.emit(.read(.load))
        }
        state = .unknown(restoring)
    }

    private var loadLimit: Duration { min(context.policy.storeDeadline, context.policy.deadline) }

    /// A store that hangs is a store that cannot say. Its answer is taken when it comes.
    private mutating func loadTookTooLong() {
        guard case .unknown(var restoring) = state else { return failUnreadEnd(nil) }
        restoring.isTimed = false
        state = .unknown(restoring)
        guard restoring.isReading else { return }
        let error = TokenStoreError(.unavailable, reason: "no response within \(loadLimit.inWords)")
        failRestoring(error, retryAfter: nil)
    }

    /// The store has answered for the first time (G14).
    private mutating func loaded(_ result: Result<StoredSession, TokenStoreError>) {
        guard case .unknown(var restoring) = state else { return loadedLate(result) }
        restoring.isReading = false
        restoring.isTimed = false
        state = .unknown(restoring)
        context.emit(.stopTimer(.loadDeadline))
        switch result.map({ $0.current(at: context.now.date).readable }) {
        case .success(.active(let bundle)):
            storeFailure = nil
            begin(stored: bundle)
        case .success(.ended(let ended)):
            storeFailure = nil
            endRestoring(ended.reason)
        case .success(.empty):
            storeFailure = nil
            endRestoring(.never)
        case .success(nil): storeUnavailable(.unusableBundle)
        case .failure(let error): storeUnavailable(error)
        }
    }

    /// A sign-in or a sign-out came before the first read had ended. The read shows what it replaces, or ends.
    private mutating func loadedLate(_ result: Result<StoredSession, TokenStoreError>) {
        let found = result.map { $0.current(at: context.now.date).readable }
        guard let end = unreadEnd else { return withSession { session, _ in session.noteReplaced(try? found.get()) } }
        if case .failure(let error) = found, error.code != .corrupt { return failUnreadEnd(error) }
        unreadEnd = nil
        context.emit(.stopTimer(.loadDeadline))
        switch found {
        case .success(.ended), .success(.empty):
            for waiter in end.waiters { context.emit(.answer(waiter, .done)) }
        case .success(.active(let bundle)):
            let scope = EndScope.sessions(bundle.session, replacing: [])
            _ = context.write(.ended(end.reason, at: end.date, of: scope))
            for waiter in end.waiters { context.store.wait(waiter) }
            lastRevoked = bundle
            revokeOnceWritten(bundle)
        case .success(nil), .failure:
            _ = context.write(.ended(end.reason, at: end.date, of: .unread))
            for waiter in end.waiters { context.store.wait(waiter) }
        }
    }

    /// The store could not be read in time, so nothing was ended. It cannot be ended later: a session that is found then
    /// may be a sign-in of another process.
    private mutating func failUnreadEnd(_ cause: TokenStoreError?) {
        guard let end = unreadEnd else { return }
        unreadEnd = nil
        failedEnd = true
        context.emit(.stopTimer(.loadDeadline))
        let error = cause ?? TokenStoreError(.unavailable, reason: "no response within \(loadLimit.inWords)")
        storeFailure = error
        context.emit(.report(.storeFailed(error)))
        let failure = AuthenticationError(.storeUnavailable, cause: error)
        for waiter in end.waiters { context.emit(.answer(waiter, .failed(failure))) }
    }

    private mutating func begin(stored bundle: TokenBundle) {
        let waiters = loaders.takeAll()
        state = .signedIn(ActiveSession(stored: bundle, context))
        announce(.signedIn(bundle.session))
        serve(waiters)
    }

    private mutating func endRestoring(_ reason: SignOutReason) {
        let waiters = loaders.takeAll()
        lastEnding = reason
        state = .signedOut(reason)
        announce(.signedOut(reason))
        serve(waiters)
    }

    private mutating func serve(_ waiters: [Waiter]) {
        for waiter in waiters {
            if case .restore = waiter.wish {
                context.emit(.answer(waiter.id, .state(published)))
            } else {
                asked(waiter)
            }
        }
    }

    private mutating func storeUnavailable(_ error: TokenStoreError) {
        guard case .unknown(var restoring) = state else { return }
        restoring.failures += 1
        state = .unknown(restoring)
        let pause = context.pause(afterFailures: restoring.failures)
        context.emit(.startTimer(.reload, at: context.now.uptime + pause))
        failRestoring(error, retryAfter: pause)
    }

    private mutating func failRestoring(_ error: TokenStoreError, retryAfter pause: Duration?) {
        storeFailure = error
        context.emit(.report(.storeFailed(error)))
        let failure = AuthenticationError(.storeUnavailable, retryAfter: pause, cause: error)
        for waiter in loaders.takeAll() { context.emit(.answer(waiter.id, .failed(failure))) }
    }

    // MARK: Signing in and out

    /// A sign-in. The session there was ends here and now; the new tokens are used once they are stored (G11).
    private mutating func signIn(_ tokens: TokenRefreshResult, _ id: SessionID, _ waiter: WaiterID) {
        guard tokens.accessToken.isHeaderSafe else {
            context.emit(.answer(waiter, .failed(AuthenticationError(.invalidTokens))))
            return
        }
        let scope: EndScope
        var old: TokenBundle?
        switch state {
        case .unknown(let restoring):
            scope = .sessions(id, replacing: [])
            // The read shows what the sign-in replaces.
            if context.settings.isShared, !restoring.isReading { context.emit(.read(.load)) }
        case .signedOut:
            scope = pendingEndScope?.followed(by: id) ?? .sessions(id, replacing: [])
        case .signedIn(let session):
            old = session.newestBundle
            scope = session.endScope.followed(by: id)
        }
        failWaiters()
        let lifetime = context.lifetime(of: tokens)
        let bundle = TokenBundle(tokens, session: id, lifetime: lifetime, context.serverClock, context.now)
        let expiry = Expiry(received: bundle, lifetime: lifetime, at: context.now.uptime, policy: context.policy)
        state = .signedIn(ActiveSession(signedIn: bundle, expiry, replacing: scope, &context))
        context.store.wait(waiter)
        // The sign-in replaces what an earlier sign-out was to end.
        for waiter in unreadEnd?.waiters ?? [] { context.store.wait(waiter) }
        (unreadEnd, failedEnd) = (nil, false)
        if let old { revokeOnceWritten(old) }
    }

    /// Whose tokens the store is still to lose: a sign-in takes that over.
    private var pendingEndScope: EndScope? {
        if case .ended(_, _, let scope)? = context.store.missing { scope } else { nil }
    }

    private mutating func signOut(_ reason: SignOutReason, _ waiter: WaiterID) {
        switch state {
        case .signedOut where unreadEnd != nil:
            unreadEnd?.waiters.append(waiter)
        case .signedOut where failedEnd:
            endUnread(reason, waiter, isReading: false)
        case .signedOut:
            context.store.wait(waiter)
            // A deletion that has failed is tried again at once.
            if context.store.isBehind { context.beginWriting() } else { answerStoreWaiters(nil) }
        case .unknown(let restoring) where context.settings.isShared:
            endUnread(reason, waiter, isReading: restoring.isReading)
            failWaiters()
            finish(reason)
        case .unknown:
            // Nothing is known of what is stored. The write finds out, and tells what it has removed.
            _ = context.write(.ended(reason, at: context.now.date, of: .unread))
            context.store.wait(waiter)
            failWaiters()
            finish(reason)
        case .signedIn(let session):
            end(reason, revoking: session.newestBundle, inStore: false)
            context.store.wait(waiter)
        }
    }

    private mutating func endUnread(_ reason: SignOutReason, _ waiter: WaiterID, isReading: Bool) {
        unreadEnd = UnreadEnd(reason: reason, date: context.now.date, waiters: [waiter])
        failedEnd = false
        context.emit(.startTimer(.loadDeadline, at: context.now.uptime + loadLimit))
        if !isReading { context.emit(.read(.load)) }
    }

    /// G5: the one place where a session ends.
    private mutating func end(_ reason: SignOutReason, revoking revoked: TokenBundle?, inStore: Bool) {
        guard case .signedIn(let session) = state else { return }
        if inStore {
            context.noteNews()
            context.forgetWrites()
            answerStoreWaiters(nil)
        } else {
            _ = context.write(.ended(reason, at: context.now.date, of: session.endScope))
        }
        failWaiters()
        finish(reason)
        if let revoked {
            lastRevoked = revoked
            revokeOnceWritten(revoked)
        }
    }

    private mutating func finish(_ reason: SignOutReason) {
        lastEnding = reason
        state = .signedOut(reason)
        if !context.store.isBehind { revokeWritten(upTo: .max) }
        announce(.signedOut(reason))
    }

    /// Another process has signed in: its session is this process's too, and the one there was is over.
    private mutating func replaceSession(by found: TokenBundle) {
        failWaiters()
        context.noteNews()
        context.forgetWrites()
        answerStoreWaiters(nil)
        state = .signedIn(ActiveSession(stored: found, context))
        revokeWritten(upTo: .max)
        announce(.signedIn(found.session))
    }

    /// G23: a caller who waits in one session never goes on in another. Those who wait for the state hear the next one.
    private mutating func failWaiters() {
        var waiters = loaders.takeAll() + look.waiters.takeAll() + look.laterWaiters.takeAll()
        withSession { session, _ in waiters += session.takeWaiters() }
        for waiter in waiters {
            switch waiter.wish {
            case .restore, .refresh: restorers.add(waiter)
            case .token, .replacement, .settle:
                context.emit(.answer(waiter.id, .failed(AuthenticationError(.sessionEnded))))
            }
        }
    }

    private mutating func announce(_ state: SessionState) {
        published = state
        context.emit(.publish(state))
        for waiter in restorers.takeAll() { context.emit(.answer(waiter.id, .state(state))) }
        switch state {
        case .signedIn(let session): context.emit(.report(.signedIn(session: session)))
        case .signedOut(let reason): context.emit(.report(.signedOut(reason)))
        case .unknown: break
        }
    }

    /// G5: another process whose refresh is refused must find the end of the session, or the next sign-in, in the store.
    /// It would take the revocation for the server's wish. A store that fails is not waited for.
    private mutating func revokeOnceWritten(_ bundle: TokenBundle) {
        guard context.settings.isShared, context.store.isBehind else { return revoke(bundle) }
        revocable.append((bundle, context.store.version))
    }

    private mutating func revokeWritten(upTo version: Int) {
        guard !revocable.isEmpty else { return }
        let due = revocable.filter { $0.version <= version }
        revocable.removeAll { $0.version <= version }
        for (bundle, _) in due { revoke(bundle) }
    }

    /// G9: tokens that are no longer wanted. While another session is signed in, a handler may only be asked that
    /// affects these tokens alone; tokens that are still in use are never revoked.
    private mutating func revoke(_ bundle: TokenBundle) {
        guard case .signedIn(let session) = state else {
            return context.emit(.revoke(bundle, besideAnother: false))
        }
        let current = session.newestBundle
        guard current.session != bundle.session,
            current.refreshToken != bundle.refreshToken || current.refreshToken == nil,
            current.accessToken != bundle.accessToken
        else { return }
        context.emit(.revoke(bundle, besideAnother: true))
    }

    private mutating func responded(
        _ id: AttemptID,
        base: TokenBundle,
        _ result: Result<TokenRefreshResult, TokenRefreshError>
    ) {
        if case .signedIn(let session) = state, session.bundle.session == base.session {
            return withSession { $0.responded(id, base: base, result, &$1) }
        }
        // G9: the session is over. Tokens that are the old ones were revoked with it, if at all.
        context.emit(.report(.responseDropped(session: base.session)))
        guard case .success(let tokens) = result, let new = tokens.refreshToken, !new.isEmpty,
            new != base.refreshToken
        else { return }
        revokeOnceWritten(base.renewed(by: tokens, lifetime: nil, context.serverClock, context.now))
    }

    // MARK: The store

    private mutating func wrote(_ version: Int, _ outcome: WriteOutcome) {
        context.emit(.stopTimer(.writeDeadline(version: version)))
        var failure: TokenStoreError?
        if case .failed(let error) = outcome { failure = error }
        let content = context.store.finish(version, outcome)
        context.noteNews()
        storeFailure = failure
        if let failure { context.emit(.report(.storeFailed(failure))) }
        if case .ended(_, _, let scope)? = content, case .written(let removed?) = outcome {
            // Another process had newer tokens than the ones that were revoked, or nothing was known of them.
            revokeRemoved(removed, of: scope)
        }
        withSession { $0.wrote(version, content, outcome, &$1) }
        activate(version)
        revokeWritten(upTo: version)
        answerStoreWaiters(failure, upTo: version)
        if failure != nil, context.store.version == version, context.store.isBehind {
            let pause = context.pause(afterFailures: context.store.failures)
            context.emit(.startTimer(.storeRetry, at: context.now.uptime + pause))
        } else {
            context.beginWriting()
        }
    }

    private mutating func revokeRemoved(_ removed: TokenBundle, of scope: EndScope) {
        if case .unread = scope { return revoke(removed) }
        guard removed.session == scope.session, let last = lastRevoked, removed.supersedes(last) else { return }
        revoke(removed)
    }

    private mutating func activate(_ version: Int) {
        guard case .signedIn(var session) = state, session.activate(version) else { return }
        state = .signedIn(session)
        announce(.signedIn(session.bundle.session))
        withSession { $0.serveQueue(&$1) }
    }

    /// G11: the store must not hold up the application. The write may yet succeed.
    private mutating func writeTookTooLong(_ version: Int) {
        guard context.store.lacks(version) else { return }
        context.store.timeOut(version)
        let limit = context.policy.storeDeadline.inWords
        let error = TokenStoreError(.unavailable, reason: "no response within \(limit)")
        storeFailure = error
        context.emit(.report(.storeFailed(error)))
        activate(version)
        withSession { $0.writeTookTooLong(version, error, &$1) }
        revokeWritten(upTo: version)
        answerStoreWaiters(error, upTo: version)
    }

    /// Tells those who signed in or out how it went with the store. A sign-in holds without the store; a sign-out that
    /// could not delete the tokens says so.
    private mutating func answerStoreWaiters(_ error: TokenStoreError?, upTo version: Int? = nil) {
        var isSignedOut = false
        if case .signedOut = state { isSignedOut = true }
        for waiter in context.store.takeWaiters(upTo: version ?? context.store.version) {
            if let error, isSignedOut {
                context.emit(.answer(waiter, .failed(AuthenticationError(.storeUnavailable, cause: error))))
            } else {
                context.emit(.answer(waiter, .done))
            }
        }
    }

    // MARK: What other processes do (G5, G13)

    private mutating func storeChanged() {
        if case .unknown = state { return load() }
        guard context.settings.isShared else { return }
        if look.startedAt == nil { startLook() } else { look.mustRepeat = true }
    }

    /// Lets a caller wait for a look that starts now, but not for longer than a store may take.
    private mutating func lookFor(_ waiter: Waiter) {
        if look.startedAt == nil {
            look.waiters.add(waiter)
            startLook()
        } else {
            look.laterWaiters.add(waiter)
        }
        guard !look.isTimed else { return }
        look.isTimed = true
        context.emit(.startTimer(.lookDeadline, at: context.now.uptime + loadLimit))
    }

    private mutating func startLook() {
        look.startedAt = context.news
        look.mustRepeat = false
        for waiter in look.laterWaiters.takeAll() { look.waiters.add(waiter) }
        context.emit(.read(.look))
    }

    private mutating func looked(_ result: Result<StoredSession, TokenStoreError>) {
        // A write of this process has ended since the look started, or an attempt has read the store: the look may have
        // seen the store as it was before, and the session that the user has just left.
        let isStale = look.startedAt != context.news
        look.startedAt = nil
        if !isStale {
            follow((try? result.get()).flatMap(\.readable))
            for waiter in look.waiters.takeAll() { serveLooker(waiter) }
        }
        if isStale || look.mustRepeat || !look.laterWaiters.isEmpty {
            startLook()
        } else if look.isTimed {
            look.isTimed = false
            context.emit(.stopTimer(.lookDeadline))
        }
    }

    private mutating func follow(_ found: StoredSession?) {
        switch (state, found) {
        case (.signedIn, _):
            withSession { $0.looked(found, &$1) }
        case (.signedOut, .active(let bundle)) where !context.store.isBehind && unreadEnd == nil:
            failedEnd = false
            state = .signedIn(ActiveSession(stored: bundle, context))
            announce(.signedIn(bundle.session))
        case (.signedOut, _), (.unknown, _): break
        }
    }

    /// A store that hangs has shown nothing. Its answer is taken when it comes.
    private mutating func lookTookTooLong() {
        look.isTimed = false
        for waiter in look.waiters.takeAll() + look.laterWaiters.takeAll() { serveLooker(waiter) }
    }

    private mutating func serveLooker(_ waiter: Waiter) {
        switch (waiter.wish, standing) {
        case (.replacement, .signedIn), (.replacement, .activating): withSession { $0.serveLooker(waiter, &$1) }
        case (.replacement, _): context.emit(.answer(waiter.id, .failed(AuthenticationError(.sessionEnded))))
        case (_, .activating): restorers.add(waiter)
        default: context.emit(.answer(waiter.id, .state(published)))
        }
    }

    private mutating func suspensionNear() {
        isSuspending = true
        withSession { $0.suspensionNear(&$1) }
    }

    // MARK: After each event

    /// Rule 2: the lease belongs to the attempt until its call has ended and its result is stored.
    private mutating func releaseUnneededLease() {
        guard context.lease != nil else {
            isSuspending = false
            return
        }
        if isSuspending {
            // Tokens that the store does not hold yet keep the other processes out.
            if !context.store.isBehind { context.releaseLease() }
            return
        }
        switch state {
        case .signedIn(let session):
            if !session.needsLease, !context.store.isBehind { context.releaseLease() }
        case .signedOut, .unknown:
            // No other process reads what is about to be removed; but one that cannot be removed does not keep them out.
            if !context.store.isBehind || context.store.hasMissed { context.releaseLease() }
        }
    }

    private mutating func answerSettlers() {
        guard !settlers.isEmpty, isIdle else { return }
        for waiter in settlers.takeAll() { context.emit(.answer(waiter.id, .done)) }
    }

    private var isIdle: Bool {
        guard !context.store.isBehind, look.startedAt == nil, unreadEnd == nil else { return false }
        switch state {
        case .unknown(let restoring): return !restoring.isReading
        case .signedOut: return true
        case .signedIn(let session): return session.isIdle
        }
    }

    private mutating func serverDateNoted(_ date: Date) {
        guard date.isPlausible else { return }
        let isFirst = !context.serverClock.isKnown
        context.serverClock.note(date, at: context.now)
        if isFirst { withSession { $0.serverClockKnown($1) } }
    }
}
