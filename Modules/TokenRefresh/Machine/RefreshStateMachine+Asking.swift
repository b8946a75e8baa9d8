import AuthInterface
import Foundation

/// Requests: a token for one that starts, a better one for one that was refused.
extension RefreshStateMachine {
    mutating func tokenAsked(_ waiter: WaiterID, _ now: Instant) {
        switch standing {
        case .unknown:
            restoring.askers.insert(waiter)
            load(now)
        case .signedOut:
            emit(.answer(waiter, .failed(AuthenticationError(.notSignedIn))))
        case .signedIn:
            giveToken(to: waiter, now)
        }
    }

    mutating func tokenRefused(_ refused: SessionToken, _ waiter: WaiterID, _ now: Instant) {
        guard let session, rules.belongs(refused, session.bundle) else {
            emit(.answer(waiter, .failed(AuthenticationError(.sessionEnded))))
            return
        }
        if rules.isLate(refused, session.bundle) {
            giveToken(to: waiter, now)
        } else if session.attempt != nil, rules.joinsRefreshInFlight {
            wait(waiter, .refused(refused))
        } else if session.bundle.refreshToken == nil {
            emit(.answer(waiter, .failed(AuthenticationError(.noRefreshToken))))
        } else if let pause = pauseAfterRefusal(now) {
            emit(.answer(waiter, .failed(AuthenticationError(.unauthorized, retryAfter: pause))))
        } else {
            waitForRefresh(waiter, .refused(refused), now)
        }
    }

    mutating func waiterCancelled(_ waiter: WaiterID) {
        let waited =
            waiting.removeValue(forKey: waiter) != nil
            || queue.removeValue(forKey: waiter) != nil
            || restoring.askers.remove(waiter) != nil
            || restoring.restorers.remove(waiter) != nil
            || desk.remove(waiter)
        if waited { emit(.answer(waiter, .cancelled)) }
    }

    /// Gives the current token, or lets the waiter wait for a better one (G3).
    mutating func giveToken(to waiter: WaiterID, _ now: Instant) {
        guard let session else { return }
        guard session.activation == nil else { return wait(waiter, .asked) }
        switch session.expiry.urgency(at: now.uptime) {
        case .none:
            emit(.answer(waiter, .token(session.bundle.token)))
        case .ahead:
            emit(.answer(waiter, .token(session.bundle.token)))
            if session.bundle.refreshToken != nil, session.attempt == nil, pauseLeft(now) == nil {
                startAttempt(now)
            }
        case .due where session.bundle.refreshToken == nil || pauseLeft(now) != nil:
            emit(.answer(waiter, .token(session.bundle.token)))
        case .expired where session.bundle.refreshToken == nil:
            emit(.answer(waiter, .failed(AuthenticationError(.noRefreshToken))))
        case .due, .expired:
            waitForRefresh(waiter, .asked, now)
        }
    }

    /// Joins the refresh under way, or starts one; during a pause waits for its end if that is near (G1, G6).
    private mutating func waitForRefresh(_ waiter: WaiterID, _ kind: Waiting, _ now: Instant) {
        if let left = pauseLeft(now), let cooldown = session?.cooldown, session?.attempt == nil {
            if left > policy.patience {
                emit(.answer(waiter, .failed(.unavailable(cooldown.error, retryAfter: left))))
                return
            }
            if queue.isEmpty, let id = session?.bundle.session {
                emit(.startTimer(.cooldown(id), at: cooldown.until))
            }
            queue[waiter] = kind
            return
        }
        if session?.attempt == nil || !rules.joinsRefreshInFlight { startAttempt(now) }
        wait(waiter, kind)
    }

    private mutating func wait(_ waiter: WaiterID, _ kind: Waiting) {
        if session?.attempt != nil {
            waiting[waiter] = kind
        } else {
            queue[waiter] = kind
        }
    }

    mutating func cooldownEnded(_ id: SessionID, _ now: Instant) {
        if let session, session.bundle.session == id, session.activation == nil { serveQueue(now) }
    }

    /// Lets those who waited for a pause to end, or for a login to be stored, ask again.
    mutating func serveQueue(_ now: Instant) {
        for (waiter, kind) in take(\.queue) {
            switch kind {
            case .asked: giveToken(to: waiter, now)
            case .refused(let token): tokenRefused(token, waiter, now)
            }
        }
    }

    /// How long failed refreshes still cool down.
    func pauseLeft(_ now: Instant) -> Duration? {
        guard rules.coolsDown, let until = session?.cooldown?.until, until > now.uptime else { return nil }
        return until - now.uptime
    }

    /// G10: how long no refresh goes out for the current token, because it was refused while just refreshed.
    ///
    /// Only the refused request pays: others go on using the token, which may well be good for what they ask.
    private mutating func pauseAfterRefusal(_ now: Instant) -> Duration? {
        guard rules.breaksLoops, let session else { return nil }
        let generation = session.bundle.generation
        if let refusal = session.refusal, refusal.generation == generation {
            return refusal.until > now.uptime ? refusal.until - now.uptime : nil
        }
        guard case .refresh(let at) = session.origin, now.uptime < at + policy.freshness,
            session.expiry.urgency(at: now.uptime) != .expired
        else { return nil }
        let isRepeated = session.refusal.map { now.uptime < $0.until + policy.refusalCooldown } ?? false
        let trips = isRepeated ? min((session.refusal?.trips ?? 0) + 1, 4) : 1
        let pause = policy.refusalCooldown * (1 << (trips - 1))
        self.session?.refusal = .init(generation: generation, until: now.uptime + pause, trips: trips)
        emit(.report(.refusedAfterRefresh(session: session.bundle.session, generation: generation, retryAfter: pause)))
        return pause
    }
}

extension AuthenticationError {
    /// A refresh that could not be had, as those who waited for it see it.
    static func unavailable(_ error: TokenRefreshError, retryAfter: Duration) -> AuthenticationError {
        let isStore = error.cause is TokenStoreError
        return AuthenticationError(
            isStore ? .storeUnavailable : .refreshUnavailable,
            retryAfter: retryAfter,
            cause: isStore ? error.cause : error
        )
    }
}
