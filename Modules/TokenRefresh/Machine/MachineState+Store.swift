import AuthInterface

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
        context.check.storeMayHaveChanged()
        modifySession { session, _ in session.invalidateRead() }
        storeFailure = failure
        if let failure { context.emit(.report(.storeFailed(failure))) }
        if let content, case .written(let removed?) = outcome { revokeRemoved(removed, by: content) }
        if !context.store.isBehind { revocations.generations = [:] }
        modifySession { $0.wrote(version, content, outcome, &$1) }
        activate(version)
        revokeWritten(upTo: version, beside: outcome.found)
        respondToStoreWaiters(failure, upTo: version)
        // A sign-out that has found a later session leaves it, and this process follows.
        if case (.signedOut, .superseded) = (session, outcome) { context.check.isOwed = true }
        if failure != nil, context.store.version == version, context.store.isBehind {
            let pause = context.pause(afterFailures: context.store.failures, ofStore: true)
            context.emit(.startTimer(.storeRetry, at: context.uptime + pause))
        } else {
            context.beginWriting()
        }
        startOwedCheck()
    }

    /// Tokens that a write has removed are revoked, if they are newer than the revoked ones of their session, or of a
    /// session that a sign-in has replaced or a sign-out has ended unread. The key of such a session is released.
    private mutating func revokeRemoved(_ removed: TokenBundle, by content: StoreContent) {
        guard let known = revocations.generations[removed.session] else {
            guard removed.session != content.session else { return }
            revoke(removed)
            return releaseKey(removed.binding, unlessOf: content.bundle)
        }
        if removed.generation > known { revoke(removed) }
    }

    /// The tokens of a sign-in are in use from here on.
    private mutating func activate(_ version: Int) {
        guard let active, active.value.phase == .activating(version: version) else { return }
        modifySession { session, _ in session.phase = .resting }
        announce(.signedIn(active.value.bundle.session))
        modifySession { $0.serveQueue(&$1) }
    }

    /// G11: a slow store must not delay the application. The write may still succeed.
    mutating func writeTookTooLong(_ version: Int) {
        guard context.store.lacks(version) else { return }
        context.store.timeOut(version)
        let error = TokenStoreError.noResponse(within: context.policy.storeLimit)
        storeFailure = error
        context.emit(.report(.storeFailed(error)))
        activate(version)
        modifySession { if let awaited = $0.awaitedWrite(version) { $0.notWritten(awaited.write, error, &$1) } }
        revokeWritten(upTo: version)
        respondToStoreWaiters(error, upTo: version)
    }

    /// Completes the callers of a sign-in or a sign-out. A sign-in holds without the store; a sign-out that could not
    /// delete the tokens fails its caller, unless the journal has it (G30).
    mutating func respondToStoreWaiters(_ error: TokenStoreError?, upTo version: Int? = nil) {
        let isSignedOut = if case .signedOut = session { true } else { false }
        let version = version ?? context.store.version
        for waiter in context.callers.takeWriters(upTo: version) {
            if let error, isSignedOut, !waiter.isSignIn, context.store.noted < version {
                let code = context.settings.hasJournal ? AuthenticationError.Code.signOutNotStored : .storeUnavailable
                context.emit(.respond(waiter.id, .failed(AuthenticationError(code, cause: error))))
            } else {
                context.emit(.respond(waiter.id, .done))
            }
        }
    }

    /// That the store can be read does not show that it can be written.
    mutating func updateStoreFailure(_ result: StoreResult) {
        switch result {
        case .failure(let error): storeFailure = error
        case .success: if !context.store.hasMissed { storeFailure = nil }
        }
    }

    // MARK: What other processes do

    /// The store was read. What it holds may have to end, although it has not taken that (G30).
    mutating func read(_ purpose: ReadPurpose, _ reading: StoreReading, ownerMayCall: Bool) {
        var result = reading.result
        var isToEnd = false
        context.order.learn(try? result.get(), journal: reading.noted)
        if purpose == .load { return loaded(result, reading.ending) }
        if let ending = reading.ending, case .success(.active(let bundle)) = result, purpose != .order {
            if active?.value.bundle.session == bundle.session {
                // The tokens of an expired session are not valid any more.
                modifySession {
                    let revoked = ending.isExpired ? nil : $0.newestBundle
                    $1.conclude(.ends(ending, revoking: revoked, inStore: false))
                }
            } else if case .signedOut = session, !context.store.isBehind {
                endFound(bundle, ending)
            } else {
                isToEnd = true
            }
            result = .success(.tombstone(bundle.ended(ending, at: context.now.date)))
        }
        switch purpose {
        case .check: checked(result)
        case .attempt(let id):
            context.isReadingForAttempt = false
            updateStoreFailure(result)
            modifySession { $0.attemptRead(id, result, ownerMayCall: ownerMayCall, &$1) }
        case .load, .order: break
        }
        // The session that ran here has ended with that which the store holds.
        if isToEnd, case .signedOut = session {
            context.check.isOwed = true
            startOwedCheck()
        }
    }

    /// Ends a session that the store holds. It was never in use here.
    mutating func endFound(_ bundle: TokenBundle, _ reason: SignOutReason) {
        use(stored: bundle)
        end(reason, revoking: reason.isExpired ? nil : bundle, inStore: false)
    }

    mutating func storeChanged() {
        if case .restoring(let restoring) = session {
            context.check.isOwed = restoring.isReading
            return load()
        }
        guard context.settings.isShared else { return }
        modifySession { $0.window.changeReported(at: $1.uptime) }
        if context.check.changeReported() { startCheck() }
    }

    mutating func startOwedCheck() {
        if context.check.isOwed, !context.store.isBehind { storeChanged() }
    }

    /// Starts the check for which callers wait, at most for the store's deadline.
    mutating func checkForWaiters() {
        if !context.check.isUnderWay, !context.callers.isEmpty(.nextCheck) { startCheck() }
        guard !context.check.isTimed, !context.callers.isEmpty(.check) || !context.callers.isEmpty(.nextCheck) else {
            return
        }
        context.check.isTimed = true
        context.emit(.startTimer(.checkDeadline, at: context.uptime + context.policy.storeLimit))
    }

    private mutating func startCheck() {
        context.check.begin()
        context.callers.move(from: .nextCheck, to: .check)
        context.emit(.read(.check))
    }

    private mutating func checked(_ result: StoreResult) {
        let counts = context.check.end()
        updateStoreFailure(result)
        if counts {
            follow(try? result.get())
            for waiter in context.callers.take(.check) { serveAfterCheck(waiter) }
        }
        if context.check.mustRepeat || !context.callers.isEmpty(.nextCheck) { return startCheck() }
        if context.check.isTimed {
            context.check.isTimed = false
            context.emit(.stopTimer(.checkDeadline))
        }
        guard case .failure(let error) = result, !error.isLasting else {
            context.check.failures = 0
            return
        }
        // A change that could not be read is read after a pause: it is not reported again.
        context.check.failures += 1
        let pause = context.pause(afterFailures: context.check.failures, ofStore: true)
        context.emit(.startTimer(.reload, at: context.uptime + pause))
    }

    /// Follows what another process has stored. A write shows what it has found, and a check after it what came since.
    mutating func follow(_ found: StoredSession?) {
        guard !context.store.isBehind else {
            context.check.isOwed = true
            return modifySession { $0.checkedBesideWrite(found, &$1) }
        }
        switch (session, found) {
        case (.signedIn, _): modifySession { $0.checked(found, &$1) }
        case (.signedOut, .active(let bundle)): begin(stored: bundle)
        case (.signedOut, _), (.restoring, _): break
        }
    }

    mutating func serveAfterCheck(_ waiter: Waiter) {
        if case .replacement = waiter.request {
            guard active != nil else { return context.refuse(waiter, .sessionEnded) }
            modifySession { $0.serveAfterCheck(waiter, &$1) }
        } else if active?.value.isActivating == true {
            waitForPublication(waiter)
        } else {
            context.emit(.respond(waiter.id, .state(published)))
        }
    }

    // MARK: The lease

    mutating func leaseChanged(_ event: LeaseEvent) {
        switch event {
        case .taken(let id, let identity):
            // A second lease is released at once.
            if !context.lease.take(id, identity) { context.emit(.release(id)) }
            modifySession { $0.leased(&$1) }
        case .failed(let id, let error):
            context.lease.requestEnded()
            modifySession { $0.leaseFailed(id, error, &$1) }
        case .held(let holder): modifySession { session, _ in session.leaseHeld(by: holder) }
        // The lease that this process held may belong to another one by now. It permits nothing from here on, and is
        // released as any other one: a release says that the call has ended (rule 4).
        case .lost(let id):
            guard context.lease.lose(id) else { return }
            modifySession { $0.endWithoutLease("the lease of the shared store was lost", &$1) }
        }
    }
}
