import AuthInterface
import Foundation

/// The refresh itself, from the first request that needs it to the last waiter told.
extension RefreshStateMachine {
    mutating func startAttempt(_ now: Instant) {
        guard let base = session?.bundle else { return }
        let attempt = Attempt(id: nextAttemptID(), base: base, stage: .leasing)
        emit(.report(.refreshStarted(session: base.session, generation: base.generation)))
        if rules.hasDeadline { emit(.startTimer(.deadline(attempt.id), at: now.uptime + policy.deadline)) }
        // Whoever waited for a pause to end is served by this attempt.
        for (waiter, kind) in take(\.queue) { waiting[waiter] = kind }
        session?.attempt = attempt
        if isShared {
            emit(.lease(attempt.id))
        } else {
            call(attempt.id)
        }
    }

    mutating func leased(_ id: AttemptID, _ now: Instant) {
        guard session?.attempt?.id == id else {
            // The attempt was given up while it waited for its turn.
            emit(.release(id))
            return
        }
        if rules.rereadsUnderLease {
            session?.attempt?.stage = .rereading
            emit(.reread(id))
        } else {
            call(id)
        }
    }

    mutating func leaseFailed(_ id: AttemptID, _ error: TokenStoreError, _ now: Instant) {
        guard session?.attempt?.id == id else { return }
        failAttempt(TokenRefreshError(.unavailable, reason: "the shared store is not free", cause: error), now)
    }

    /// The store has been read again: under the lease, or because the server said no (G13).
    mutating func reread(_ id: AttemptID, _ result: Result<TokenBundle?, TokenStoreError>, _ now: Instant) {
        guard let session, let attempt = session.attempt, attempt.id == id else { return }
        let isVerifying: Bool
        switch attempt.stage {
        case .rereading: isVerifying = false
        case .verifying: isVerifying = true
        case .leasing, .calling, .storing: return
        }
        switch result {
        case .success(let found?) where !found.isUsable:
            failAttempt(TokenRefreshError(.unavailable, cause: TokenStoreError.unusableBundle), now)
        case .success(let found?) where found.session != attempt.base.session && session.isStored:
            replaceSession(by: found, now)
        case .success(let found?) where found.displaces(attempt.base):
            adopt(found, now)
        case .success(nil) where !isVerifying && session.isStored:
            // Another process has signed the user out.
            endSession(.byUser, revoking: nil, deleting: false, now)
        case .failure(let error) where rules.toleratesUnavailableStore:
            // Another process may have spent the refresh token: only the store could say. Spending it twice could end
            // the session, and waiting cannot. The same after a no: it may have been about a token long replaced, and
            // the server will say no again when the store can be read.
            failAttempt(TokenRefreshError(.unavailable, reason: "the store cannot be read", cause: error), now)
        case .failure:
            endSession(.expired, revoking: nil, deleting: true, now)
        case .success:
            if isVerifying {
                endSession(.expired, revoking: nil, deleting: true, now)
            } else {
                // Nothing newer. Or this login is not stored yet, and what is there is what it replaces: whoever
                // was signed in before must not come back because the store was locked for a moment.
                call(id)
            }
        }
    }

    /// Another process was faster: its bundle is used, and no call is made if its token is good.
    private mutating func adopt(_ found: TokenBundle, _ now: Instant) {
        takeUp(found, now)
        switch session?.expiry.urgency(at: now.uptime) {
        case .due, .expired:
            session?.attempt?.base = found
            if let id = session?.attempt?.id { call(id) }
        case .none?, .ahead, nil:
            emit(.report(.adopted(session: found.session, generation: found.generation)))
            finishAttempt(now)
        }
    }

    /// The bundle of another process becomes this one's.
    mutating func takeUp(_ found: TokenBundle, _ now: Instant) {
        let expiry = expiry(of: found, now)
        session?.bundle = found
        session?.expiry = expiry
        session?.origin = .store
        session?.isStored = true
    }

    private mutating func call(_ id: AttemptID) {
        guard let base = session?.attempt?.base else { return }
        guard let refreshToken = base.refreshToken, !refreshToken.isEmpty else {
            giveUpWithoutRefreshToken()
            return
        }
        // A call that has missed its deadline had its time; two at once would spend the same refresh token.
        let overdue = session?.overdue.keys.sorted { $0.number < $1.number } ?? []
        for call in overdue { emit(.cancelCall(call)) }
        session?.attempt?.stage = .calling
        emit(.call(id, base: base, refreshToken: refreshToken))
    }

    /// G22: an adopted bundle may have no refresh token; then there is nothing to ask the server.
    private mutating func giveUpWithoutRefreshToken() {
        dropAttempt()
        for (waiter, _) in take(\.waiting) { emit(.answer(waiter, .failed(AuthenticationError(.noRefreshToken)))) }
    }

    /// The handler has answered.
    mutating func answered(
        _ id: AttemptID,
        base: TokenBundle,
        _ result: Result<TokenRefreshResult, TokenRefreshError>,
        _ now: Instant
    ) {
        let isOverdue = session?.overdue.removeValue(forKey: id) != nil
        let isCurrent = session?.attempt?.id == id
        guard rules.mayCommit(base, session?.bundle), isCurrent || (isOverdue && !isStoring) else {
            dropAnswer(base: base, result, now)
            return
        }
        switch result {
        case .success(let tokens) where !tokens.accessToken.isHeaderSafe:
            if isCurrent { failAttempt(TokenRefreshError(.unavailable, reason: "the access token is unusable"), now) }
        case .success(let tokens):
            if isOverdue { takeOver(with: id, base: base) }
            store(tokens, now)
        case .failure(let verdict) where rules.endsSession(verdict):
            // A late no is not acted upon: whoever needs the token next will hear it again.
            if isCurrent { rejected(id, now) }
        case .failure(let verdict):
            if isCurrent { failAttempt(verdict, now) }
        }
    }

    /// Whether newer tokens are on their way to the store already.
    private var isStoring: Bool {
        if case .storing? = session?.attempt?.stage { true } else { false }
    }

    private mutating func rejected(_ id: AttemptID, _ now: Instant) {
        guard rules.rereadsAfterRejection else {
            endSession(.expired, revoking: nil, deleting: true, now)
            return
        }
        session?.attempt?.stage = .verifying
        emit(.reread(id))
    }

    /// G9: an answer about a session that is over. Its tokens are revoked, unless they are of the session that goes on:
    /// revoking those would end it.
    private mutating func dropAnswer(
        base: TokenBundle,
        _ result: Result<TokenRefreshResult, TokenRefreshError>,
        _ now: Instant
    ) {
        emit(.report(.answerDropped(session: base.session)))
        guard case .success(let tokens) = result, base.session != session?.bundle.session else { return }
        emit(.revoke(base.renewed(by: tokens, lifetime: nil, serverClock, now)))
    }

    /// G8: the answer of an overdue call is still good. It becomes the attempt under way; a call made since is overdue
    /// in its turn, and its answer about an older bundle will be dropped.
    private mutating func takeOver(with id: AttemptID, base: TokenBundle) {
        if let current = session?.attempt {
            dropAttempt()
            session?.overdue[current.id] = current.base
        }
        session?.attempt = Attempt(id: id, base: base, stage: .calling)
        emit(.report(.lateAnswerKept(session: base.session, generation: base.generation + 1)))
    }

    /// G11: persist, then publish.
    private mutating func store(_ tokens: TokenRefreshResult, _ now: Instant) {
        guard let session, let base = session.attempt?.base else { return }
        let lifetime = lifetime(of: tokens, now)
        let bundle = base.renewed(by: tokens, lifetime: lifetime, serverClock, now)
        let expiry = Expiry(receivedAt: now.uptime, lifetime: lifetime, policy: policy)
        let version = desk.want(.bundle(bundle, over: session.isStored ? .sameSession : .anything))
        self.session?.attempt?.stage = .storing(bundle, expiry, version: version)
        beginWriting(now)
        if !rules.storesBeforeUse { commit(bundle, expiry, now) }
    }

    /// The new tokens are in use from here on.
    mutating func commit(_ bundle: TokenBundle, _ expiry: Expiry, _ now: Instant) {
        session?.bundle = bundle
        session?.expiry = expiry
        session?.origin = .refresh(at: now.uptime)
        emit(.report(.refreshed(session: bundle.session, generation: bundle.generation)))
        finishAttempt(now)
    }

    /// All who waited go on with the current token, unless it is over already: a store may take longer to write a token
    /// than the token lives. Then there is a pause as after any failure, not the next refresh at once.
    mutating func finishAttempt(_ now: Instant) {
        if session?.attempt != nil, session?.expiry.urgency(at: now.uptime) == .expired {
            failAttempt(TokenRefreshError(.unavailable, reason: "the new token expired before it was stored"), now)
            return
        }
        session?.cooldown = nil
        dropAttempt()
        guard let token = session?.bundle.token else { return }
        for (waiter, _) in take(\.waiting) { emit(.answer(waiter, .token(token))) }
        serveQueue(now)
    }

    /// All who waited share the failure (G6), but for those whose token is still good (G3).
    mutating func failAttempt(_ error: TokenRefreshError, _ now: Instant) {
        guard let session, let attempt = session.attempt else { return }
        guard rules.keepsTokenAfterLostAnswer else { return endSession(.expired, revoking: nil, deleting: true, now) }
        let failures = (session.cooldown?.failures ?? 0) + 1
        let asked = min(error.retryAfter ?? .zero, policy.maximumRetryAfter)
        let pause = max(policy.backoff.delay(afterFailures: failures, using: &random), asked)
        self.session?.cooldown = .init(until: now.uptime + pause, error: error, failures: failures)
        emit(.report(.refreshFailed(session: attempt.base.session, error: error, retryAfter: pause)))
        let isValid = session.expiry.urgency(at: now.uptime) != .expired
        dropAttempt()
        for (waiter, kind) in take(\.waiting) {
            if case .asked = kind, isValid {
                emit(.answer(waiter, .token(session.bundle.token)))
            } else {
                emit(.answer(waiter, .failed(.unavailable(error, retryAfter: pause))))
            }
        }
    }

    /// G8: those who wait are told; the call itself may yet be answered.
    mutating func deadlinePassed(_ id: AttemptID, _ now: Instant) {
        guard let attempt = session?.attempt, attempt.id == id else { return }
        switch attempt.stage {
        case .calling:
            session?.overdue[id] = attempt.base
            failAttempt(TokenRefreshError(.unavailable, reason: "no answer within \(policy.deadline)"), now)
        case .leasing, .rereading, .verifying:
            failAttempt(TokenRefreshError(.unavailable, reason: "no store within \(policy.deadline)"), now)
        case .storing(let bundle, let expiry, _):
            commit(bundle, expiry, now)
        }
    }

    /// Takes the attempt down. Those who waited for it are still to be told.
    mutating func dropAttempt() {
        guard let attempt = session?.attempt else { return }
        session?.attempt = nil
        emit(.stopTimer(.deadline(attempt.id)))
        if isShared { emit(.release(attempt.id)) }
    }
}

extension TokenBundle {
    /// Whether another process's bundle, found in the store, takes the place of this process's.
    ///
    /// Two processes can each have made the same generation: one could not save it, and the other began from what was
    /// saved. The store's is the one that every process can see, so the store's it is.
    func displaces(_ other: TokenBundle) -> Bool {
        supersedes(other)
            || (session == other.session && generation == other.generation && accessToken != other.accessToken)
    }
}
