import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The store, and what other processes that share it do (G5, G11, G13).
extension MachineState {
    mutating func wrote(_ version: Int, _ outcome: WriteOutcome) {
        context.emit(.stopTimer(.writeDeadline(version: version)))
        var failure: TokenStoreError?
        switch outcome {
        case .written: context.order.learn(.empty)
        case .superseded(let found): context.order.learn(found)
        case .failed(let error): failure = error
        }
        let content = context.store.finish(version, outcome)
        context.storeMayHaveChanged = true
        modifySession { $0.invalidateRead() }
        storeFailure = failure
        if let failure { context.emit(.report(.storeFailed(failure))) }
        if let content, case .written(let removed?) = outcome { revokeRemoved(removed, by: content) }
        if !context.store.isBehind { revoked = [:] }
        modifySession { $0.wrote(version, content, outcome) }
        activate(version)
        revokeWritten(upTo: version, beside: outcome.found)
        respondToStoreWaiters(failure, upTo: version)
        // A sign-out that has found a later session leaves it, and this process follows.
        if case (.signedOut, .superseded) = (state, outcome) { check.isOwed = true }
        if failure != nil, context.store.version == version, context.store.isBehind {
            let pause = context.storePause(afterFailures: context.store.failures)
            context.emit(.startTimer(.storeRetry, at: context.now.uptime + pause))
        } else {
            context.beginWriting()
        }
        startOwedCheck()
    }

    /// Tokens that a write has removed are revoked, if they are newer than the revoked ones of their session, or of a
    /// session that a sign-in has replaced or a sign-out has ended unread. The key of such a session is released.
    private mutating func revokeRemoved(_ removed: TokenBundle, by content: StoreContent) {
        guard let known = revoked[removed.session] else {
            guard removed.session != content.session else { return }
            revoke(removed)
            return releaseKey(removed.binding, unlessOf: content.bundle)
        }
        if removed.generation > known { revoke(removed) }
    }

    mutating func activate(_ version: Int) {
        var session: SessionID?
        modifySession { if $0.activate(version) { session = $0.bundle.session } }
        guard let session else { return }
        announce(.signedIn(session))
        modifySession { $0.serveQueue() }
    }

    /// G11: a slow store must not delay the application. The write may still succeed.
    mutating func writeTookTooLong(_ version: Int) {
        guard context.store.lacks(version) else { return }
        context.store.timeOut(version)
        let error = TokenStoreError.noResponse(within: context.policy.storeLimit)
        storeFailure = error
        context.emit(.report(.storeFailed(error)))
        activate(version)
        modifySession { $0.writeTookTooLong(version, error) }
        revokeWritten(upTo: version)
        respondToStoreWaiters(error, upTo: version)
    }

    /// Completes the callers of a sign-in or a sign-out. A sign-in holds without the store; a sign-out that could not
    /// delete the tokens fails its caller.
    mutating func respondToStoreWaiters(_ error: TokenStoreError?, upTo version: Int? = nil) {
        var isSignedOut = false
        if case .signedOut = state { isSignedOut = true }
        let version = version ?? context.store.version
        for waiter in context.room.takeWriters(upTo: version) {
            if let error, isSignedOut, !waiter.isSignIn {
                context.emit(.respond(waiter.id, context.response(toSignOut: error, version)))
            } else {
                context.emit(.respond(waiter.id, .done))
            }
        }
    }

    /// A read shows whether the store works. That it can be read does not show that it can be written.
    mutating func updateStoreFailure(_ result: Result<StoredSession, TokenStoreError>) {
        switch result {
        case .failure(let error): storeFailure = error
        case .success: if !context.store.hasMissed { storeFailure = nil }
        }
    }

    // MARK: What other processes do

    /// The store was read. `ending`: why what it holds is to end, although it has not taken that (G30).
    mutating func read(
        _ purpose: ReadPurpose, _ result: Result<StoredSession, TokenStoreError>, ownerMayCall: Bool,
        _ ending: SignOutReason?
    ) {
        var result = result
        var isToEnd = false
        if purpose == .load { return loaded(result, ending) }
        if let ending, case .success(.active(let bundle)) = result, purpose != .order {
            if current?.bundle.session == bundle.session {
                // The tokens of an expired session are not valid any more.
                modifySession {
                    $0.conclude(.ends(ending, revoking: ending.isExpired ? nil : $0.newestBundle, inStore: false))
                }
            } else if case .signedOut = state, !context.store.isBehind {
                endFound(bundle, ending)
            } else {
                isToEnd = true
            }
            result = .success(.tombstone(bundle.ended(ending, at: context.now.date)))
        }
        switch purpose {
        case .check: checked(result)
        case .attempt(let id):
            context.attemptReadEnded()
            updateStoreFailure(result)
            modifySession { $0.attemptRead(id, result, ownerMayCall: ownerMayCall) }
        case .load, .order: break
        }
        // The session that ran here has ended with that which the store holds.
        if isToEnd, case .signedOut = state {
            check.isOwed = true
            startOwedCheck()
        }
    }

    /// Ends a session that the store holds. It was never in use here.
    mutating func endFound(_ bundle: TokenBundle, _ reason: SignOutReason) {
        use(stored: bundle)
        end(reason, revoking: reason.isExpired ? nil : bundle, inStore: false)
    }

    mutating func storeChanged() {
        if case .unknown(let restoring) = state {
            check.isOwed = restoring.isReading
            return load()
        }
        guard context.settings.isShared else { return }
        let uptime = context.now.uptime
        modifySession { $0.sighting?.changeReported(at: uptime) }
        if !check.isUnderWay { startCheck() } else { check.mustRepeat = true }
    }

    mutating func startOwedCheck() {
        if check.isOwed, !context.store.isBehind { storeChanged() }
    }

    /// Starts the check for which callers wait, at most for the store's deadline.
    mutating func checkForWaiters() {
        if !check.isUnderWay, !context.room.isEmpty(.nextCheck) { startCheck() }
        guard !check.isTimed, !context.room.isEmpty(.check) || !context.room.isEmpty(.nextCheck) else { return }
        check.isTimed = true
        context.emit(.startTimer(.checkDeadline, at: context.now.uptime + loadLimit))
    }

    mutating func startCheck() {
        (check.isUnderWay, check.isStale, check.mustRepeat, check.isOwed) = (true, false, false, false)
        context.storeMayHaveChanged = false
        context.room.move(from: .nextCheck, to: .check)
        context.emit(.read(.check))
    }

    mutating func checked(_ result: Result<StoredSession, TokenStoreError>) {
        let isStale = check.isStale
        (check.isUnderWay, check.isStale) = (false, false)
        updateStoreFailure(result)
        if !isStale {
            follow(try? result.get())
            for waiter in context.room.take(.check) { serveAfterCheck(waiter) }
        }
        if isStale || check.mustRepeat || !context.room.isEmpty(.nextCheck) { return startCheck() }
        if check.isTimed {
            check.isTimed = false
            context.emit(.stopTimer(.checkDeadline))
        }
        repeatCheck(after: result)
    }

    /// A change that could not be read is read after a pause: it is not reported again.
    private mutating func repeatCheck(after result: Result<StoredSession, TokenStoreError>) {
        guard case .failure(let error) = result, !error.isLasting else {
            check.failures = 0
            return
        }
        check.failures += 1
        let pause = context.storePause(afterFailures: check.failures)
        context.emit(.startTimer(.reload, at: context.now.uptime + pause))
    }

    /// Follows what another process has stored. The end of a write shows what it has found, and a check after it what
    /// was stored since.
    mutating func follow(_ found: StoredSession?) {
        guard !context.store.isBehind else {
            check.isOwed = true
            return modifySession { $0.checkedBesideWrite(found) }
        }
        switch (state, found) {
        case (.signedIn, _):
            modifySession { $0.checked(found) }
        case (.signedOut, .active(let bundle)):
            use(stored: bundle)
            announce(.signedIn(bundle.session))
        case (.signedOut, _), (.unknown, _), (.modifying, _): break
        }
    }

    /// The waiters of a check that hangs continue without it. Its result is used when it comes.
    mutating func checkTookTooLong() {
        check.isTimed = false
        for waiter in context.room.take(.check, .nextCheck) { serveAfterCheck(waiter) }
    }

    mutating func serveAfterCheck(_ waiter: Waiter) {
        switch (waiter.request, stateKind) {
        case (.replacement, .signedIn), (.replacement, .activating): modifySession { $0.serveAfterCheck(waiter) }
        case (.replacement, _): context.emit(.respond(waiter.id, .failed(AuthenticationError(.sessionEnded))))
        case (_, .activating): waitForPublication(waiter)
        default: context.emit(.respond(waiter.id, .state(published)))
        }
    }

    /// The lease that this process held may belong to another one by now. It permits nothing from here on, and is
    /// released as any other one: a release says that the call has ended (rule 4).
    mutating func leaseLost(_ id: AttemptID) {
        if context.lease.lose(id) { modifySession { $0.leaseLost() } }
    }

    mutating func suspensionNear() {
        context.lease.suspend()
        modifySession { $0.suspensionNear() }
    }
}
