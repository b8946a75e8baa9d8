import AuthInterface
import Foundation

/// Beginning and ending a session.
extension RefreshStateMachine {
    mutating func restoreAsked(_ waiter: WaiterID, _ now: Instant) {
        guard standing == .unknown else {
            emit(.answer(waiter, .state(state)))
            return
        }
        restoring.restorers.insert(waiter)
        load(now)
    }

    mutating func load(_ now: Instant) {
        guard standing == .unknown else { return }
        if !restoring.isTimed {
            restoring.isTimed = true
            emit(.startTimer(.loadDeadline, at: now.uptime + policy.storeDeadline))
        }
        guard !restoring.isLoading else { return }
        restoring.isLoading = true
        emit(.stopTimer(.reload))
        emit(.load)
    }

    /// A store that hangs is a store that cannot say. Its answer is taken when it comes.
    mutating func loadTookTooLong(_ now: Instant) {
        restoring.isTimed = false
        guard standing == .unknown, restoring.isLoading else { return }
        let error = TokenStoreError(.unavailable, reason: "no answer within \(policy.storeDeadline)")
        emit(.report(.storeFailed(error)))
        failRestoring(error, retryAfter: nil)
    }

    /// The store has answered for the first time (G14).
    mutating func loaded(_ result: Result<TokenBundle?, TokenStoreError>, _ now: Instant) {
        restoring.isLoading = false
        restoring.isTimed = false
        emit(.stopTimer(.loadDeadline))
        // Somebody signed in or out meanwhile: what was stored is not what is meant any more.
        guard standing == .unknown else { return }
        switch result {
        case .success(let bundle?) where bundle.isUsable:
            beginRestored(bundle, now)
        case .success(nil):
            endRestoring(.never)
        case .success:
            storeUnavailable(.unusableBundle, now)
        case .failure(let error) where rules.toleratesUnavailableStore:
            storeUnavailable(error, now)
        case .failure:
            endRestoring(.never)
        }
    }

    private mutating func beginRestored(_ bundle: TokenBundle, _ now: Instant) {
        session = Session(bundle, origin: .store, expiry: expiry(of: bundle, now), isStored: true)
        standing = .signedIn
        announce(.signedIn(bundle.session))
        for waiter in takeAskers() { giveToken(to: waiter, now) }
    }

    private mutating func endRestoring(_ reason: SignOutReason) {
        standing = .signedOut(reason)
        announce(.signedOut(reason))
        for waiter in takeAskers() { emit(.answer(waiter, .failed(AuthenticationError(.notSignedIn)))) }
    }

    private mutating func storeUnavailable(_ error: TokenStoreError, _ now: Instant) {
        restoring.failures += 1
        let pause = policy.backoff.delay(afterFailures: restoring.failures, using: &random)
        emit(.report(.storeFailed(error)))
        emit(.startTimer(.reload, at: now.uptime + pause))
        failRestoring(error, retryAfter: pause)
    }

    private mutating func failRestoring(_ error: TokenStoreError, retryAfter pause: Duration?) {
        let failure = AuthenticationError(.storeUnavailable, retryAfter: pause, cause: error)
        for waiter in takeAskers() + takeRestorers() { emit(.answer(waiter, .failed(failure))) }
    }

    private mutating func takeAskers() -> [WaiterID] {
        defer { restoring.askers = [] }
        return restoring.askers.sorted { $0.number < $1.number }
    }

    private mutating func takeRestorers() -> [WaiterID] {
        defer { restoring.restorers = [] }
        return restoring.restorers.sorted { $0.number < $1.number }
    }

    /// A login. The session there was ends here and now; the new tokens are used once they are stored (G11).
    mutating func signIn(_ tokens: TokenRefreshResult, _ id: SessionID, _ waiter: WaiterID, _ now: Instant) {
        guard tokens.accessToken.isHeaderSafe else {
            emit(.answer(waiter, .failed(AuthenticationError(.invalidTokens))))
            return
        }
        failAllWaiters()
        let lifetime = lifetime(of: tokens, now)
        let bundle = TokenBundle(tokens, session: id, lifetime: lifetime, serverClock, now)
        let expiry = Expiry(receivedAt: now.uptime, lifetime: lifetime, policy: policy)
        session = Session(bundle, origin: .signIn, expiry: expiry, isStored: false)
        standing = .signedIn
        session?.activation = desk.want(.bundle(bundle, over: .anything))
        desk.wait(waiter)
        beginWriting(now)
    }

    /// The login's tokens are in use from here on.
    mutating func activate(_ now: Instant) {
        guard let id = session?.bundle.session else { return }
        session?.activation = nil
        announce(.signedIn(id))
        serveQueue(now)
    }

    mutating func signOut(_ waiter: WaiterID, _ now: Instant) {
        if case .signedOut = standing {
            desk.wait(waiter)
            // A deletion that has failed is tried again at once: somebody asks for it.
            if desk.isBehind { beginWriting(now) } else { answerDeskWaiters(upTo: desk.version, error: nil) }
            return
        }
        endSession(.byUser, revoking: newestBundle, deleting: true, now)
        desk.wait(waiter)
    }

    /// The newest tokens of the session, those on their way to the store included: revoking older ones might leave the
    /// newest alive.
    var newestBundle: TokenBundle? {
        if case .storing(let bundle, _, _)? = session?.attempt?.stage { return bundle }
        return session?.bundle
    }

    /// G5: the one place where a session ends.
    mutating func endSession(_ reason: SignOutReason, revoking: TokenBundle?, deleting: Bool, _ now: Instant) {
        // The deletion comes before the lease is given back, so that no other process reads what is about to go.
        if !deleting {
            forgetWrites()
        } else {
            // A login that never got to the store would have replaced whatever is there, so all of that goes.
            _ = desk.want(.nothing(of: session?.isStored == true ? session?.bundle.session : nil))
            beginWriting(now)
        }
        failAllWaiters()
        session = nil
        standing = .signedOut(reason)
        announce(.signedOut(reason))
        if let revoking { emit(.revoke(revoking)) }
    }

    /// Another process has signed in: its session is this process's too, and the one there was is over.
    mutating func replaceSession(by found: TokenBundle, _ now: Instant) {
        failAllWaiters()
        forgetWrites()
        session = Session(found, origin: .store, expiry: expiry(of: found, now), isStored: true)
        standing = .signedIn
        announce(.signedIn(found.session))
    }

    /// G23: nobody who waits in one session goes on in another.
    private mutating func failAllWaiters() {
        dropAttempt()
        for waiter in (take(\.waiting) + take(\.queue)).map(\.waiter) + takeAskers() {
            emit(.answer(waiter, .failed(AuthenticationError(.sessionEnded))))
        }
    }

    private mutating func announce(_ state: SessionState) {
        self.state = state
        emit(.publish(state))
        for waiter in takeRestorers() { emit(.answer(waiter, .state(state))) }
        switch state {
        case .signedIn(let session): emit(.report(.signedIn(session: session)))
        case .signedOut(let reason): emit(.report(.signedOut(reason)))
        case .unknown: break
        }
    }

    /// G19: the server has told the time. The expiry of a token that came from the store was counted on a clock that
    /// anybody can set; now it can be counted on the server's.
    mutating func serverDateNoted(_ date: Date, _ now: Instant) {
        guard date.isPlausible else { return }
        let isFirst = !serverClock.isKnown
        serverClock.note(date, at: now)
        guard isFirst, let session, session.origin == .store else { return }
        let expiry = expiry(of: session.bundle, now)
        self.session?.expiry = expiry
    }

    /// How long tokens are good that arrive now; what they say of the server's clock is noted first.
    mutating func lifetime(of tokens: TokenRefreshResult, _ now: Instant) -> Duration? {
        if let date = tokens.serverDate { serverClock.note(date, at: now) }
        let date = serverClock.date(at: now)
        return TokenLifetime(of: tokens, receivedAt: date, limit: policy.maximumLifetime).duration
    }

    /// When a bundle from the store expires, by the server's clock as far as it is known.
    func expiry(of bundle: TokenBundle, _ now: Instant) -> Expiry {
        Expiry(restored: bundle, at: now, skew: serverClock.skew(at: now) ?? bundle.clockSkew, policy: policy)
    }
}
