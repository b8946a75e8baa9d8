import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// Requests of callers, server dates, and the first read of the store (G14).
extension MachineState {
    var stateKind: StateKind {
        switch state {
        case .unknown: .unknown
        case .signedOut: .signedOut
        case .signedIn(let session): session.isActivating ? .activating : .signedIn
        }
    }

    mutating func requested(_ waiter: Waiter) {
        switch (waiter.request, stateKind) {
        case (.settle, _): settleWaiters.add(waiter)
        case (_, .unknown):
            loadWaiters.add(waiter)
            load()
        case (.restore, .activating): restoreWaiters.add(waiter)
        case (.restore, .signedIn), (.restore, .signedOut): restore(waiter)
        case (_, .signedIn), (_, .activating): withSession { $0.requested(waiter, &$1) }
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
        checkStore(for: waiter)
    }

    mutating func cancel(_ waiter: WaiterID) {
        var waited =
            loadWaiters.remove(waiter) || restoreWaiters.remove(waiter) || settleWaiters.remove(waiter)
            || check.waiters.remove(waiter) || check.laterWaiters.remove(waiter) || context.store.remove(waiter)
            || cancelUnreadEnd(waiter)
        if !waited { withSession { session, _ in waited = session.cancel(waiter) } }
        if waited { context.emit(.respond(waiter, .cancelled)) }
    }

    mutating func cancelUnreadEnd(_ waiter: WaiterID) -> Bool {
        guard let index = unreadEnd?.waiters.firstIndex(of: waiter) else { return false }
        unreadEnd?.waiters.remove(at: index)
        return true
    }

    mutating func serverDateNoted(_ date: Date) {
        guard date.isPlausible else { return }
        let isFirst = !context.serverClock.isKnown
        context.serverClock.note(date, at: context.now)
        if isFirst { withSession { $0.serverClockKnown($1) } }
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
        guard case .unknown(var restoring) = state else { return failUnreadEnd(nil) }
        restoring.isTimed = false
        state = .unknown(restoring)
        guard restoring.isReading else { return }
        let error = TokenStoreError(.unavailable, reason: "no response within \(loadLimit.inWords)")
        failRestoring(error, retryAfter: nil)
    }

    /// The first read has ended (G14).
    mutating func loaded(_ result: Result<StoredSession, TokenStoreError>) {
        guard case .unknown(var restoring) = state else { return loadedLate(result) }
        restoring.isReading = false
        restoring.isTimed = false
        state = .unknown(restoring)
        context.emit(.stopTimer(.loadDeadline))
        switch result.map({ $0.current(at: context.now.date).readable }) {
        case .success(.active(let bundle)):
            storeFailure = nil
            begin(stored: bundle)
        case .success(.tombstone(let tombstone)):
            storeFailure = nil
            endRestoring(tombstone.reason)
        case .success(.empty):
            storeFailure = nil
            endRestoring(.never)
        case .success(nil): storeUnavailable(.unusableBundle)
        case .failure(let error): storeUnavailable(error)
        }
    }

    /// A sign-in or sign-out arrived before the first read completed. The result of the read shows which session it
    /// replaces or ends.
    mutating func loadedLate(_ result: Result<StoredSession, TokenStoreError>) {
        let found = result.map { $0.current(at: context.now.date).readable }
        guard let end = unreadEnd else { return withSession { session, _ in session.noteReplaced(try? found.get()) } }
        if case .failure(let error) = found, error.code != .corrupt { return failUnreadEnd(error) }
        unreadEnd = nil
        context.emit(.stopTimer(.loadDeadline))
        switch found {
        case .success(.tombstone), .success(.empty):
            for waiter in end.waiters { context.emit(.respond(waiter, .done)) }
        case .success(.active(let bundle)):
            let scope = EndScope.sessions(bundle.session, replacing: [])
            _ = context.write(.tombstone(end.reason, at: end.date, of: scope))
            for waiter in end.waiters { context.store.wait(waiter) }
            lastRevoked = bundle
            revokeOnceWritten(bundle)
        case .success(nil), .failure:
            _ = context.write(.tombstone(end.reason, at: end.date, of: .unread))
            for waiter in end.waiters { context.store.wait(waiter) }
        }
    }

    /// The store could not be read in time, so no session was ended. A session that is found later is not ended: it may
    /// be a sign-in of another process.
    mutating func failUnreadEnd(_ cause: TokenStoreError?) {
        guard let end = unreadEnd else { return }
        unreadEnd = nil
        failedEnd = true
        context.emit(.stopTimer(.loadDeadline))
        let error = cause ?? TokenStoreError(.unavailable, reason: "no response within \(loadLimit.inWords)")
        storeFailure = error
        context.emit(.report(.storeFailed(error)))
        let failure = AuthenticationError(.storeUnavailable, cause: error)
        for waiter in end.waiters { context.emit(.respond(waiter, .failed(failure))) }
    }

    mutating func begin(stored bundle: TokenBundle) {
        let waiters = loadWaiters.takeAll()
        state = .signedIn(ActiveSession(stored: bundle, context))
        announce(.signedIn(bundle.session))
        serve(waiters)
    }

    mutating func endRestoring(_ reason: SignOutReason) {
        let waiters = loadWaiters.takeAll()
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
        let pause = context.pause(afterFailures: restoring.failures)
        context.emit(.startTimer(.reload, at: context.now.uptime + pause))
        failRestoring(error, retryAfter: pause)
    }

    mutating func failRestoring(_ error: TokenStoreError, retryAfter pause: Duration?) {
        storeFailure = error
        context.emit(.report(.storeFailed(error)))
        let failure = AuthenticationError(.storeUnavailable, retryAfter: pause, cause: error)
        for waiter in loadWaiters.takeAll() { context.emit(.respond(waiter.id, .failed(failure))) }
    }
}
