import AuthInterface

/// Signing in and out, and the end of a session (G5, G9).
extension MachineState {
    /// A sign-in. The current session ends at once; the new tokens are used once they are stored (G11).
    mutating func signIn(_ tokens: TokenRefreshResult, _ id: SessionID, _ waiter: Waiter) {
        guard tokens.accessToken.fitsHeaderField else { return context.refuse(waiter, .invalidTokens) }
        let old = active
        failWaiters()
        let (ordinal, ends) = context.order.begin(at: context.now.date)
        let new = context.receive(tokens, of: id, ordinal)
        let version = context.write(.bundle(new.bundle, over: .lower(ends: ends)))
        session = .signedIn(Placed(ActiveSession(signedIn: new, ends: ends, version: version)))
        context.letWait(waiter, isSignIn: true)
        if let old {
            revokeOnceWritten(old.value.newestBundle)
            releaseKeys(of: old.value)
        }
    }

    /// G34: a key belongs to one session. It is released once the end is stored, or the store has failed, as its tokens
    /// are revoked: without its key, a process that starts meanwhile would find the session lost.
    private mutating func releaseKeys(of ended: ActiveSession) {
        for binding in [ended.newestBundle.binding].compactMap(\.self) + ended.persistence.formerBindings {
            giveUp(.key(binding), isToWait: context.store.isBehind)
        }
    }

    /// Releases a key, unless the tokens in use are bound to it, here or, as far as a write has found, elsewhere.
    mutating func releaseKey(_ binding: TokenBinding?, unlessOf stored: TokenBundle? = nil) {
        let inUse = [stored, active?.value.newestBundle].map { $0?.binding?.thumbprint }
        if let binding, !inUse.contains(binding.thumbprint) { context.emit(.releaseKey(binding)) }
    }

    /// G32. A sign-in of the user of the session: the session goes on. Of another user, or of one that is not known, it
    /// is a sign-in like any other. Without a refresh token it changes nothing: the one in use would not be of it.
    mutating func stepUp(_ tokens: TokenRefreshResult, _ id: SessionID, _ waiter: Waiter) {
        guard tokens.bringsRefreshToken else { return context.refuse(waiter, .invalidTokens) }
        // No server has seen the tokens of a session that has not been published.
        guard isPublished, let bundle = active?.value.bundle, let subject = bundle.subject, subject == tokens.subject,
            tokens.accessToken.fitsHeaderField, !context.store.mayEnd(bundle.session)
        else { return signIn(tokens, id, waiter) }
        modifySession { $0.stepUp(tokens, &$1) }
        context.letWait(waiter, isSignIn: true)
    }

    mutating func signOut(_ reason: SignOutReason, _ waiter: Waiter) {
        switch session {
        case .restoring, .signedOut(.lost):
            // What the store may hold, or may hold again, ends (G9, G30).
            let date = context.now.date
            _ = context.write(.tombstone(reason, at: date, of: .unread(upTo: context.order.end(at: date))))
            context.letWait(waiter)
            endRestoring(reason)
        case .signedOut:
            context.letWait(waiter)
            // A deletion that has failed is tried again at once.
            if context.store.isBehind { context.beginWriting() } else { respondToStoreWaiters(nil) }
        case .signedIn(let active):
            let ordinal = context.order.end(at: context.now.date)
            end(reason, revoking: active.value.newestBundle, inStore: false, upTo: ordinal)
            context.letWait(waiter)
        }
    }

    /// G5: the one place where a session ends. `ordinal`: up to which one others end with it, if that is asked for now.
    /// An end that was noted earlier does not reach the sign-ins that this process has seen since.
    mutating func end(
        _ reason: SignOutReason, revoking revoked: TokenBundle?, inStore: Bool, upTo ordinal: SessionOrdinal? = nil
    ) {
        guard let ended = active?.value else { return }
        if inStore {
            followStore()
        } else {
            let scope =
                reason.isExpired
                ? ended.persistence.scope(ofRejected: ended.bundle)
                : ended.persistence.scope(of: ended.bundle.session, upTo: ordinal ?? ended.bundle.ordinal)
            _ = context.write(.tombstone(reason, at: context.now.date, of: scope))
            if let call = ended.calls.call {
                context.lease.endedCalls[call.id] = Lease.EndedCall(
                    session: ended.bundle.session, generation: call.generation)
            }
        }
        failWaiters()
        lastEnding = reason
        session = .signedOut(reason)
        if !context.store.isBehind { revokeWritten(upTo: .max) }
        announce(.signedOut(reason))
        releaseKeys(of: ended)
        if let revoked { revokeOnceWritten(revoked) }
    }

    /// The store holds the content of another process: what was to be written is not.
    private mutating func followStore() {
        context.check.storeMayHaveChanged()
        context.forgetWrites()
        respondToStoreWaiters(nil)
    }

    /// Another process has signed in: this process follows, and its own session has ended.
    mutating func replaceSession(by found: TokenBundle) {
        guard let ended = active?.value else { return }
        failWaiters()
        followStore()
        use(stored: found, after: ended.window.sighting)
        // The other process has released the key it found. That of what is not stored is known here only.
        if !ended.persistence.isStored || !ended.persistence.formerBindings.isEmpty {
            releaseKey(ended.newestBundle.binding, unlessOf: found)
        }
        // No other process has seen them (G9).
        if ended.isUnsaved { revokeOnceWritten(ended.newestBundle) }
        revokeWritten(upTo: .max)
        announce(.signedIn(found.session))
    }

    /// G23: a waiter of one session never continues in another. Waiters for the state get the next one.
    mutating func failWaiters() {
        modifySession { $0.leave(&$1) }
        for waiter in context.callers.take(.load, .check, .nextCheck, .attempt, .pause) {
            switch waiter.request {
            case .restore, .refresh: context.callers.add(waiter, to: .publication)
            case .token, .replacement, .settle: context.refuse(waiter, .sessionEnded)
            }
        }
    }

    /// Whether the session has been published. One that was stepped up stays so while its tokens are being stored.
    private var isPublished: Bool { active.map { published == .signedIn($0.value.bundle.session) } ?? false }

    /// Lets a caller wait for the next published state, if one comes.
    mutating func waitForPublication(_ waiter: Waiter) {
        guard !isPublished else { return context.emit(.respond(waiter.id, .state(published))) }
        context.callers.add(waiter, to: .publication)
    }

    /// A state that is published already is no news, such as that of a session which goes on after a step-up.
    mutating func announce(_ state: SessionState) {
        let isNew = state != published
        published = state
        if isNew { context.emit(.publish(state)) }
        for waiter in context.callers.take(.publication) { context.emit(.respond(waiter.id, .state(state))) }
        guard isNew else { return }
        switch state {
        case .signedIn(let session): context.emit(.report(.signedIn(session: session)))
        case .signedOut(let reason): context.emit(.report(.signedOut(reason)))
        case .unknown: break
        }
    }

    /// G5: another process whose refresh is refused must find the end of the session, or the next sign-in, in the
    /// store. Otherwise it would report the revocation as an expiry. A store that fails is not waited for.
    mutating func revokeOnceWritten(_ bundle: TokenBundle) {
        revocations.generations[bundle.session] = bundle.generation
        giveUp(.tokens(bundle), isToWait: context.settings.isShared && context.store.isBehind)
    }

    private mutating func giveUp(_ subject: Revocations.Subject, isToWait: Bool) {
        revocations.add(subject, after: isToWait ? context.store.version : 0)
        revokeWritten(upTo: 0)
    }

    /// `found`: the tokens that the write has found in the store, and left there.
    mutating func revokeWritten(upTo version: Int, beside found: TokenBundle? = nil) {
        for subject in revocations.due(upTo: version) {
            switch subject {
            case .tokens(let bundle): revoke(bundle, beside: found)
            case .key(let binding): releaseKey(binding, unlessOf: found)
            }
        }
    }

    /// G9: revokes tokens that are not used any more. Beside another session, of this process or `found` in the store,
    /// only a handler is called that affects these tokens alone; tokens in use are never revoked.
    mutating func revoke(_ bundle: TokenBundle, beside found: TokenBundle? = nil) {
        guard let other = active?.value.newestBundle ?? found else {
            return context.emit(.revoke(bundle, besideAnother: false))
        }
        // An older version has stored an empty refresh token where there is none.
        let isInUse = other.refreshToken.map { !$0.isEmpty && $0 == bundle.refreshToken } ?? false
        guard other.session != bundle.session, !isInUse, other.accessToken != bundle.accessToken else { return }
        context.emit(.revoke(bundle, besideAnother: true))
    }

    /// G31. The tokens of another subject are those of another user, as from a cache between: the response of this call
    /// is lost. They belong to a session in use elsewhere, so they are not even revoked.
    private mutating func ofSubject(of base: TokenBundle, _ result: CallResult) -> CallResult {
        let current = active.flatMap { $0.value.bundle.session == base.session ? $0.value.bundle.subject : nil }
        let known = base.subject ?? current
        guard case .success(let tokens) = result else { return result }
        guard let known, let subject = tokens.subject ?? tokens.claimedSubject, subject != known else {
            if let problem = tokens.idTokenProblem {
                context.emit(.report(.idTokenIgnored(session: base.session, problem: problem)))
            }
            return result
        }
        context.emit(.report(.otherSubjectIgnored(session: base.session)))
        return .failure(TokenRefreshError(.unavailable, reason: "the response has the tokens of another user"))
    }

    mutating func callNotMade(_ id: AttemptID, _ error: TokenRefreshError) {
        context.lease.endedCalls[id] = nil
        context.stopLimits(of: id)
        modifySession { $0.callNotMade(id, error, &$1) }
    }

    mutating func responded(_ id: AttemptID, base: TokenBundle, _ result: CallResult) {
        context.lease.endedCalls[id] = nil
        let result = ofSubject(of: base, result)
        if active?.value.bundle.session == base.session {
            return modifySession { $0.responded(id, base: base, result, &$1) }
        }
        // G9: the session is over. If the response repeats the old tokens, they were already revoked with the session.
        context.stopLimits(of: id)
        context.emit(.report(.responseDropped(session: base.session)))
        guard case .success(let tokens) = result,
            let new = context.settings.needsRefreshToken ? tokens.refreshToken : tokens.accessToken, !new.isEmpty,
            new != base.refreshToken
        else { return }
        let (clock, now) = (context.clock.serverClock, context.now)
        revokeOnceWritten(
            TokenBundle(tokens, session: base.session, base.ordinal, after: base, lifetime: nil, clock, now))
    }
}
