import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// Requests of callers, server dates, and the first read of the store (G14).
extension MachineState {
    var stateKind: StateKind {
        switch state {
        case .unknown: .unknown
        case .signedOut, .modifying: .signedOut
        case .signedIn(let session): session.isActivating ? .activating : .signedIn
        }
    }

    mutating func requested(_ waiter: Waiter) {
        switch (waiter.request, stateKind) {
        case (.settle, _): context.room.add(waiter, to: .settle)
        case (_, .unknown):
            context.room.add(waiter, to: .load)
            load()
        case (.restore, .activating): waitForPublication(waiter)
        case (.restore, .signedIn), (.restore, .signedOut): restore(waiter)
        case (_, .signedIn), (_, .activating): modifySession { $0.requested(waiter) }
        case (.token, .signedOut): context.emit(.respond(waiter.id, .failed(AuthenticationError(.notSignedIn))))
        case (.replacement, .signedOut): context.emit(.respond(waiter.id, .failed(AuthenticationError(.sessionEnded))))
        case (.refresh, .signedOut): context.emit(.respond(waiter.id, .state(published)))
        }
    }

    /// A shared store is checked, as another process may have signed in or out. A check that fails changes nothing.
    mutating func restore(_ waiter: Waiter) {
        guard context.settings.isShared, !context.store.isBehind else {
            context.emit(.respond(waiter.id, .state(published)))
            return
        }
        context.room.add(waiter, to: .nextCheck)
    }

    /// A sign-out stays when its caller leaves.
    mutating func cancel(_ id: WaiterID) {
        guard context.room.remove(id) else { return }
        context.emit(.respond(id, .cancelled))
    }

    mutating func serverDateNoted(_ date: Date) {
        guard date.isPlausible else { return }
        let isFirst = !context.moment.serverClock.isKnown
        context.moment.serverClock.record(date, at: context.now)
        if isFirst { modifySession { $0.validity.serverClockKnown($0.bundle, $0.moment) } }
    }

    // MARK: The first read

    mutating func load() {
        guard case .unknown(var restoring) = state else { return }
        if !restoring.isTimed {
            restoring.isTimed = true
            context.emit(.startTimer(.loadDeadline, at: context.now.uptime + loadLimit))
        }
        if !restoring.isReading {
            restoring.isReading = true
            context.emit(.stopTimer(.reload))
            readFirst()
        }
        state = .unknown(restoring)
    }

    var loadLimit: Duration { context.policy.storeLimit }

    /// A store that hangs counts as unavailable. Its result is used when it comes.
    mutating func loadTookTooLong() {
        guard case .unknown(var restoring) = state else { return }
        restoring.isTimed = false
        state = .unknown(restoring)
        guard restoring.isReading else { return }
        let error = TokenStoreError(.unavailable, reason: "no response within \(loadLimit.inWords)")
        failRestoring(error, retryAfter: nil)
    }

    /// The first read has ended (G14).
    mutating func loaded(_ result: Result<StoredSession, TokenStoreError>) {
        let found = result.map { $0.current(at: context.now.date).readable }
        guard case .unknown(var restoring) = state else {
            // The read shows what a sign-in that did not wait for it replaces.
            return modifySession { $0.recordReplaced(try? found.get()) }
        }
        restoring.isReading = false
        if case .success(.active(let bundle)?) = found, restoring.suspect != bundle.session,
            isSuspect(bundle, restoring.earlySignOut)
        {
            restoring.suspect = bundle.session
            state = .unknown(restoring)
            return load()
        }
        (restoring.isTimed, restoring.suspect) = (false, nil)
        state = .unknown(restoring)
        context.emit(.stopTimer(.loadDeadline))
        switch found {
        case .success(.some(let content)):
            storeFailure = nil
            restored(content, restoring.earlySignOut, isEmpty: (try? result.get()) == .empty)
            startOwedCheck()
        case .success(nil): unreadable(.unusableBundle, restoring.earlySignOut)
        case .failure(let error): unreadable(error, restoring.earlySignOut)
        }
    }

    /// `isEmpty`: the store holds nothing, not even a tombstone that is too old.
    private mutating func restored(_ content: StoredSession, _ earlySignOut: SignOut?, isEmpty: Bool) {
        if earlySignOut != nil { context.noteLater(.fulfilled) }
        switch content {
        case .active(let bundle): found(bundle, earlySignOut)
        case .tombstone(let tombstone):
            endRestoring(tombstone.reason)
            respondToEarlySignOuts()
        case .empty:
            endRestoring(earlySignOut?.reason ?? (isEmpty ? reasonOfEmptyStore : .never))
            respondToEarlySignOuts()
        }
        settleJournal(content)
        context.writeJournal()
    }

    private mutating func found(_ bundle: TokenBundle, _ earlySignOut: SignOut?) {
        // A session that another process began after the sign-out was asked for is not the one that it meant.
        if let earlySignOut, !isSignIn(bundle, after: earlySignOut) {
            endFound(bundle, earlySignOut.reason)
            return context.letEarlySignOutsWait()
        }
        if let pending = pendingEnd(of: bundle) {
            // It is completed before anything is restored (G30).
            endFound(bundle, pending.reason, by: pending)
            return context.letEarlySignOutsWait()
        }
        begin(stored: bundle)
        respondToEarlySignOuts()
    }

    /// A sign-out removes content that no read can show. A store that cannot be read now is read again.
    private mutating func unreadable(_ error: TokenStoreError, _ earlySignOut: SignOut?) {
        guard let earlySignOut, error.isLasting else { return storeUnavailable(error) }
        _ = context.write(.tombstone(earlySignOut.reason, at: context.now.date, of: .unread))
        context.letEarlySignOutsWait()
        endRestoring(earlySignOut.reason)
    }

    private mutating func respondToEarlySignOuts() {
        for waiter in context.room.take(.earlySignOut) { context.emit(.respond(waiter.id, .done)) }
    }

    /// Whether a stored session is known to have begun after a sign-out was asked for: by the journal, by the age of
    /// its first token, or else by the date of the sign-in, which it keeps.
    func isSignIn(_ bundle: TokenBundle, after earlySignOut: SignOut) -> Bool {
        if context.hasJournal, context.journal.spares(bundle.session) { return true }
        // A date counts parts of a microsecond.
        let past = context.now.uptime - earlySignOut.askedAt - .microseconds(1)
        if bundle.generation == 0, let age = bundle.age(at: context.now.date) { return age < past }
        return bundle.hasBegun(after: context.now.date - past / .seconds(1), foundAt: context.now.date)
    }

    mutating func begin(stored bundle: TokenBundle) {
        let waiters = context.room.take(.load)
        use(stored: bundle)
        announce(.signedIn(bundle.session))
        serve(waiters)
    }

    /// Uses the session that the store holds.
    mutating func use(stored bundle: TokenBundle, after sighting: StoreSighting? = nil) {
        state = .signedIn(Placed(ActiveSession(stored: bundle, after: sighting, context.moment)))
        modifySession { session in
            session.recordSighting(bundle)
            if let intent = bundle.refreshIntent { session.observeFailure(of: intent) }
        }
    }

    mutating func endRestoring(_ reason: SignOutReason) {
        let waiters = context.room.take(.load)
        lastEnding = reason
        state = .signedOut(reason)
        announce(.signedOut(reason))
        serve(waiters)
    }

    mutating func serve(_ waiters: [Waiter]) {
        for waiter in waiters {
            if case .restore = waiter.request {
                context.emit(.respond(waiter.id, .state(published)))
            } else {
                requested(waiter)
            }
        }
    }

    mutating func storeUnavailable(_ error: TokenStoreError) {
        guard case .unknown(var restoring) = state else { return }
        restoring.failures += 1
        state = .unknown(restoring)
        let pause = context.storePause(afterFailures: restoring.failures)
        context.emit(.startTimer(.reload, at: context.now.uptime + pause))
        failRestoring(error, retryAfter: pause)
    }

    mutating func failRestoring(_ error: TokenStoreError, retryAfter pause: Duration?) {
        storeFailure = error
        context.emit(.report(.storeFailed(error)))
        let failure = AuthenticationError(.storeUnavailable, retryAfter: pause, cause: error)
        for waiter in context.room.take(.load) { context.emit(.respond(waiter.id, .failed(failure))) }
        failEarlySignOuts(error, retryAfter: pause)
    }

    /// The store cannot show which session a sign-out ends. The sign-out lasts if the journal has it (G30).
    mutating func failEarlySignOuts(_ error: TokenStoreError, retryAfter pause: Duration? = nil) {
        guard case .unknown(var restoring) = state, !context.room.isEmpty(.earlySignOut) else { return }
        if context.hasJournal, context.journal.holdsStore {
            restoring.heldFailure = error
            state = .unknown(restoring)
            return
        }
        for waiter in context.room.take(.earlySignOut) {
            context.emit(context.response(waiter, toSignOut: error, retryAfter: pause))
        }
    }
}
