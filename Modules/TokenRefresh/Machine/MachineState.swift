import AuthInterface

/// The state of the machine, and what each event makes of it. ``RefreshStateMachine`` keeps it private.
struct MachineState: Hashable, Sendable {
    /// Who is signed in.
    enum Session: Hashable, Sendable {
        /// The store has not been read yet.
        case restoring(Restoring)
        case signedOut(SignOutReason)
        case signedIn(Placed<ActiveSession>)
    }

    struct Restoring: Hashable, Sendable {
        var isReading = false
        var isTimed = false
        var failures = 0
    }

    struct ReadyToken: Hashable, Sendable {
        let token: SessionToken
        let until: Duration?

        func token(at uptime: Duration) -> SessionToken? { until.map { uptime < $0 } ?? true ? token : nil }
    }

    var session: Session = .restoring(Restoring())
    var context: Context
    var storeFailure: TokenStoreError?
    var lastEnding: SignOutReason?
    var revocations = Revocations()
    var published: SessionState = .unknown

    var active: Placed<ActiveSession>? { if case .signedIn(let active) = session { active } else { nil } }

    var status: SessionStatus {
        var status = SessionStatus()
        status.state = published
        status.isStored = !context.store.isBehind
        status.storeFailure = storeFailure
        status.lastEnding = lastEnding
        status.isSignOutPending = context.store.isEnding
        active?.value.fill(&status, context.settings)
        return status
    }

    mutating func handle(_ event: RefreshEvent, at now: Instant) -> [RefreshAction] {
        context.clock.advance(to: now)
        apply(event)
        checkForWaiters()
        releaseLeases()
        if !context.callers.isEmpty(.settle), isIdle {
            for waiter in context.callers.take(.settle) { context.emit(.respond(waiter.id, .done)) }
        }
        return context.takeActions()
    }

    private mutating func apply(_ event: RefreshEvent) {
        let uptime = context.uptime
        func waiter(_ id: WaiterID, _ request: CallerRequest = .settle) -> Waiter {
            Waiter(id: id, request: request, since: uptime)
        }
        switch event {
        case .requested(let request, let id): requested(waiter(id, request))
        case .waiterCancelled(let id): if context.callers.remove(id) { context.emit(.respond(id, .cancelled)) }
        case .signIn(let tokens, let session, let id): signIn(tokens.plausible, session, waiter(id))
        case .stepUp(let tokens, let session, let id): stepUp(tokens.plausible, session, waiter(id))
        case .signOut(let reason, let id): signOut(reason, waiter(id))
        case .serverDateNoted(let date):
            if context.clock.note(serverDate: date) { modifySession { $0.window.serverClockKnown($1.clock) } }
        case .storeChanged: storeChanged()
        case .suspensionNear:
            context.lease.suspend()
            modifySession { $0.suspensionNear(&$1) }
        case .read(let purpose, let reading, let ownerMayCall): read(purpose, reading, ownerMayCall: ownerMayCall)
        case .lease(let event): leaseChanged(event)
        case .wrote(let version, let outcome): wrote(version, outcome)
        case .noted(let version): context.store.noted = version
        case .callNotMade(let id, let error): callNotMade(id, error)
        case .responded(let id, let base, let result): responded(id, base: base, result.map(\.plausible))
        case .timerFired(let timer): timerFired(timer)
        }
    }

    private mutating func timerFired(_ timer: RefreshTimer) {
        guard context.hasPassed(timer) else { return }
        switch timer {
        case .deadline(let id): modifySession { $0.deadlinePassed(id, &$1) }
        case .waiterDeadline: modifySession { $0.waiterDeadlinePassed(&$1) }
        case .callLimit(let id) where active?.value.calls.call?.id == id: modifySession { $0.cancelCall(&$1) }
        // The call of a session that has ended.
        case .callLimit(let id): context.cancelCall(id)
        case .abandonment(let id):
            modifySession { $0.abandonmentDue(id, &$1) }
            if let call = context.lease.endedCalls.removeValue(forKey: id) {
                context.emit(.report(.callAbandoned(session: call.session, generation: call.generation)))
            }
        case .cooldown: modifySession { $0.serveQueue(&$1) }
        case .writeDeadline(let version): writeTookTooLong(version)
        case .storeRetry: context.beginWriting()
        case .reload: storeChanged()
        case .loadDeadline: loadTookTooLong()
        case .checkDeadline:
            // The waiters of a check that hangs continue without it. Its result is used when it comes.
            context.check.isTimed = false
            for waiter in context.callers.take(.check, .nextCheck) { serveAfterCheck(waiter) }
        }
    }

    /// Lets a rule change the session, and applies the outcome.
    mutating func modifySession(_ rule: (inout ActiveSession, inout Context) -> Void) {
        guard case .signedIn(var active) = session else { return }
        // Taken out meanwhile, it has one owner, and changing it copies nothing.
        session = .signedOut(.never)
        rule(&active.value, &context)
        session = .signedIn(active)
        switch context.takeOutcome() {
        case .ends(let reason, let revoked, let inStore)?: end(reason, revoking: revoked, inStore: inStore)
        case .isReplaced(let bundle)?: replaceSession(by: bundle)
        case nil: break
        }
    }

    /// Rule 2. What has begun since a suspension was announced, as a write has kept the lease, ends before it goes.
    private mutating func releaseLeases() {
        guard !context.lease.isFree else { return }
        if context.lease.isSuspending, !context.store.isBehind { modifySession { $0.suspensionNear(&$1) } }
        for id in context.lease.release(neededBy: active, context.store) { context.emit(.release(id)) }
    }

    var isIdle: Bool {
        guard !context.store.isBehind, !context.check.isUnderWay, !context.isCalling else { return false }
        switch session {
        case .restoring(let restoring): return !restoring.isReading
        case .signedOut: return true
        case .signedIn(let active): return active.value.isIdle
        }
    }
}
