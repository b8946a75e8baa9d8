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

    /// A shared store is checked, as another process may have signed in or out, and so is one in which a session may
    /// have begun without a sign-in. A check that fails changes nothing.
    mutating func restore(_ waiter: Waiter) {
        guard context.settings.isShared || !context.settings.needsRefreshToken, !context.store.isBehind else {
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
            context.emit(.read(.load))
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
        failRestoring(.noResponse(within: loadLimit), retryAfter: nil)
    }

    /// The first read has ended (G14). A sign-in or a sign-out does not wait for it.
    mutating func loaded(_ result: Result<StoredSession, TokenStoreError>, _ ending: SignOutReason?) {
        guard case .unknown(var restoring) = state else { return }
        (restoring.isReading, restoring.isTimed) = (false, false)
        state = .unknown(restoring)
        context.emit(.stopTimer(.loadDeadline))
        switch result {
        case .success(let content):
            storeFailure = nil
            restored(content.current(at: context.now.date), ending)
            startOwedCheck()
        case .failure(let error): storeUnavailable(error)
        }
    }

    private mutating func restored(_ content: StoredSession, _ ending: SignOutReason?) {
        switch (content, ending) {
        // It is completed before anything is restored (G30).
        case (.active(let bundle), let ending?): endFound(bundle, ending)
        case (.active(let bundle), nil): begin(stored: bundle)
        case (.tombstone(let tombstone), _): endRestoring(tombstone.reason)
        case (.empty, _): endRestoring(ending ?? .never)
        }
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
    }
}
