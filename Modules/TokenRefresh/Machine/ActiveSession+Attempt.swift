import AuthInterface

/// The attempt, from the lease to the call (rules 1 and 4).
extension ActiveSession {
    mutating func start(_ context: inout Context) {
        let id = context.nextAttempt()
        context.emit(.report(.refreshStarted(session: bundle.session, generation: bundle.generation)))
        context.emit(.startTimer(.deadline(id), at: context.uptime + context.policy.deadline))
        // This attempt serves the waiters of the pause.
        context.callers.move(from: .pause, to: .attempt)
        timeWaiters(since: context.callers.earliest(at: .attempt), &context)
        if !context.settings.isShared {
            // A read shows whether a write that has failed stored the tokens all the same.
            if persistence.isUncertain { read(id, &context) } else { record(over: nil, id, &context) }
        } else if context.lease.isHeld {
            // A lease that is still held, because a save has failed, serves the next attempt too.
            read(id, &context)
        } else {
            phase = .refreshing(id, .leasing)
            context.requestLease(for: id)
        }
    }

    mutating func read(_ id: AttemptID, after rejection: TokenRefreshError? = nil, _ context: inout Context) {
        phase = .refreshing(id, .reading(after: rejection, isStale: false))
        // A read of an earlier attempt that has not ended ends first.
        guard !context.isReadingForAttempt else { return }
        context.isReadingForAttempt = true
        context.emit(.read(.attempt(id)))
    }

    /// A write has ended: a read under way may not show it.
    mutating func invalidateRead() {
        guard case .refreshing(let id, .reading(let rejection, _)) = phase else { return }
        phase = .refreshing(id, .reading(after: rejection, isStale: true))
    }

    // MARK: The lease

    mutating func leased(_ context: inout Context) {
        guard case .refreshing(let id, .leasing) = phase else { return }
        leaseHolder = nil
        read(id, &context)
    }

    mutating func leaseHeld(by holder: LeaseHolder) {
        if case .refreshing(_, .leasing) = phase { leaseHolder = holder }
    }

    mutating func leaseFailed(_ request: AttemptID, _ error: TokenStoreError, _ context: inout Context) {
        guard case .refreshing(let id, .leasing) = phase else { return }
        // The request of an earlier attempt has waited for as long as it may.
        guard request == id else { return context.requestLease(for: id) }
        let reason = error.code == .busy ? waitReason(context.policy) : "no lease of the shared store"
        failAttempt(because: reason, cause: error, &context)
    }

    // MARK: The read

    /// The store was read again: under the lease, or because the server rejected the refresh token (G13).
    mutating func attemptRead(_ read: AttemptID, _ result: StoreResult, ownerMayCall: Bool, _ context: inout Context) {
        guard case .refreshing(let id, .reading(let rejection, let isStale)) = phase else { return }
        guard read == id, !isStale else { return self.read(id, after: rejection, &context) }
        switch result {
        case .success(let found):
            // Where the tokens in use are not found, a write that has failed did not store them.
            persistence.wasRead()
            if let stored = found.bundle, stored.session == bundle.session {
                persistence.found(isCurrent: stored.hasSameTokens(as: bundle))
            }
            attemptFound(found, id, rejection, ownerMayCall: ownerMayCall, &context)
        // The content is lost, but this process holds valid tokens, and may write them again.
        case .failure(let error) where error.code == .corrupt:
            attemptFound(nil, id, rejection, ownerMayCall: ownerMayCall, &context)
        case .failure where !persistence.isCurrent && rejection == nil:
            // The store is not known to have held this refresh token. If it does, the write of the intent shows it.
            record(over: nil, id, &context)
        case .failure(let error):
            // Another process may have spent the refresh token, which only the store could show: spending it twice
            // could end the session, and waiting cannot. So a rejection may be about a token that has been replaced.
            failAttempt(because: "the store cannot be read", cause: error, &context)
        }
    }

    private mutating func attemptFound(
        _ found: StoredSession?, _ id: AttemptID, _ rejection: TokenRefreshError?, ownerMayCall: Bool,
        _ context: inout Context
    ) {
        switch relation(of: found) {
        case .ended(let tombstone) where persistence.isStored || tombstone.session == bundle.session:
            context.conclude(.ends(tombstone.reason, revoking: nil, inStore: true))
        case .otherSession(let stored) where persistence.isStored:
            context.conclude(.isReplaced(by: stored))
        case .newer(let stored): adopt(stored, id, ownerMayCall: ownerMayCall, &context)
        case .outranked(let stored):
            prevail(over: stored, &context)
            record(over: nil, id, &context)
        case .nothing, .sameTokens, .otherSession, .ended:
            if let rejection { return writeEnd(.expired(ending(rejection, context)), id, &context) }
            proceed(found?.bundle, id, ownerMayCall: ownerMayCall, &context)
        }
    }

    /// Another process has refreshed: no call is made if its access token is new and valid for long enough.
    private mutating func adopt(_ found: TokenBundle, _ id: AttemptID, ownerMayCall: Bool, _ context: inout Context) {
        if use(found, &context), window.urgency(at: context.uptime) < .due {
            finishAdopting(isNew: true, &context)
        } else {
            proceed(found, id, ownerMayCall: ownerMayCall, &context)
        }
    }

    mutating func adopt(_ found: TokenBundle, _ context: inout Context) {
        finishAdopting(isNew: use(found, &context), &context)
    }

    private mutating func finishAdopting(isNew: Bool, _ context: inout Context) {
        context.emit(.report(.adopted(session: bundle.session, generation: bundle.generation)))
        finishAttempt(isRenewed: isNew, &context)
    }

    /// Uses the bundle of another process. Returns whether its access token is new.
    private mutating func use(_ found: TokenBundle, _ context: inout Context) -> Bool {
        context.check.storeMayHaveChanged()
        let old = bundle
        window.adopt(found, context.clock)
        // The tokens of a step-up that was not stored are not in use any more.
        persistence.adopted()
        if !persistence.formerBindings.isEmpty { persistence.leaveKey(old.binding, for: bundle) }
        calls.startOver(after: found.refreshIntent, context.clock)
        pacing.renewed()
        return bundle.accessToken != old.accessToken
    }

    /// The lease is held and nothing newer is stored: the call may be made, unless another one may be under way.
    private mutating func proceed(
        _ found: TokenBundle?, _ id: AttemptID, ownerMayCall: Bool, _ context: inout Context
    ) {
        guard context.canRefresh(bundle) else {
            rest(&context)
            for waiter in context.callers.take(.attempt) { context.refuse(waiter, .noRefreshToken) }
            return
        }
        let stored = found.flatMap { $0.hasSameTokens(as: bundle) ? $0 : nil }
        guard let intent = stored?.refreshIntent else { return record(over: stored, id, &context) }
        let isForeign = intent.owner != context.settings.owner
        calls.learn(intent, isForeign: isForeign, context.clock)
        if let shared = intent.failure, isForeign {
            pacing.observe(shared, of: bundle.session, &context)
            if let failure = pacing.failure, let left = pacing.pauseLeft(at: context.uptime) {
                return failAttempt(failure.error, exactly: left, &context)
            }
        }
        switch calls.permission(after: intent, ownerMayCall: ownerMayCall, context.clock) {
        case .now: record(over: stored, id, &context)
        case .tolerated(let first): record(over: stored, repeating: first, id, &context)
        case .later(let wait, let rival):
            leaseHolder = rival
            let error = TokenRefreshError(.unavailable, reason: "\(rival) may still wait for its response")
            failAttempt(error, atLeast: wait, &context)
        }
    }

    // MARK: Without the lease

    /// While content is not stored yet, newer tokens count at once: a caller may wait for them (G10).
    mutating func checkedBesideWrite(_ found: StoredSession?, _ context: inout Context) {
        guard isIdle, case .newer(let stored) = relation(of: found) else { return }
        superseded(by: .active(stored), storing: nil, &context)
    }

    /// A check of the store has ended, without the lease, and no write is under way.
    mutating func checked(_ found: StoredSession?, _ context: inout Context) {
        switch relation(of: found) {
        case .ended(let tombstone) where persistence.isStored:
            context.conclude(.ends(tombstone.reason, revoking: nil, inStore: true))
        case .otherSession(let stored) where persistence.isStored:
            context.conclude(.isReplaced(by: stored))
        // A call whose intent is marked has no lease: another process may have refreshed, or stepped up (G32).
        case .newer(let stored) where isIdle || calls.call?.mark == .stored,
            .outranked(let stored) where isIdle || calls.call?.mark == .stored:
            adopt(stored, &context)
        // Rule 7: another process has tried to refresh these tokens.
        case .sameTokens(let stored) where canStart:
            window.see(stored, at: context.uptime)
            guard let intent = stored.refreshIntent, intent.owner != context.settings.owner else { return }
            if let failure = intent.failure { pacing.observe(failure, of: bundle.session, &context) }
        case .nothing, .sameTokens, .newer, .outranked, .otherSession, .ended: break
        }
    }
}
