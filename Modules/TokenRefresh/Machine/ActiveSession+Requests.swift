import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// Requests: a token for a new request, and a replacement for a refused one.
extension ActiveSession {
    mutating func requested(_ waiter: Waiter) {
        switch waiter.request {
        case .token: return giveToken(to: waiter)
        case .replacement(let refusal): return tokenRefused(refusal, waiter)
        case .refresh:
            guard isRefreshable else { return refuse(waiter, .noRefreshToken) }
            waitForRefresh(waiter)
        case .restore, .settle: return
        }
    }

    /// Returns the current token, or lets the caller wait for the next one (G3).
    mutating func giveToken(to waiter: Waiter) {
        guard !isActivating else { return waitForActivation(waiter) }
        let mayRefresh = isRefreshable && canStart && pauseLeft == nil
        let isWaitUseful: Bool
        switch urgency {
        case .none: isWaitUseful = false
        case .ahead:
            isWaitUseful = false
            // G33. Right after a wake the network is often not there yet, and other devices wake with this one.
            if mayRefresh, !moment.isQuiet { start() }
        case .due: isWaitUseful = mayRefresh || isRefreshing
        case .expired:
            guard isRefreshable else { return withoutRefreshToken(waiter) }
            isWaitUseful = true
        }
        if isWaitUseful {
            waitForRefresh(waiter)
        } else {
            give(waiter)
        }
    }

    var isRefreshing: Bool { if case .refreshing = phase { true } else { false } }

    /// G22. A wrong clock does not end a session: while the server's clock is not known, the server decides.
    mutating func withoutRefreshToken(_ waiter: Waiter) {
        guard isExpiryCertain else { return give(waiter) }
        refuse(waiter, .noRefreshToken)
        endWithoutRefreshToken(ending(nil))
    }

    /// Another process may have stored newer tokens, as those of a step-up: in a shared store the write decides (G13).
    private mutating func endWithoutRefreshToken(_ ending: SessionEnding) {
        let reason = SignOutReason.expired(ending)
        guard settings.isShared else { return conclude(.ends(reason, revoking: nil, inStore: false)) }
        guard canStart, pauseLeft == nil else { return }
        let version = context.write(.tombstone(reason, at: now.date, of: rejectedScope))
        phase = .refreshing(context.nextAttempt(), .ending(reason, version: version))
    }

    /// Whether no clock that can be set has a part in the expiry of the token.
    var isExpiryCertain: Bool {
        validity.isMeasured || (moment.serverClock.isKnown && bundle.isDatedByServer)
    }

    mutating func tokenRefused(_ refusal: TokenRefusal, _ waiter: Waiter) {
        let refused = refusal.token
        // G23. A request that began as one user must not be sent again as another.
        guard refused.session == bundle.session else { return refuse(waiter, .sessionEnded) }
        // G2. Request B was sent with the old token and is refused after A's refresh is done. The refusal says nothing
        // about the current token. Another refresh would spend the new refresh token for nothing, and a server that
        // rotates may count that as theft. The same applies when another process's token, or that of a restored backup,
        // has replaced the refused one.
        if refused.value != bundle.accessToken { return giveToken(to: waiter) }
        guard isRefreshable else { return refusedWithoutRefreshToken(refusal, waiter) }
        if isRefreshing || isActivating { return waitForRefresh(waiter) }
        // G6. A request that was sent before the last attempt failed shares that failure, however late it is refused: a
        // server that is slow to refuse gets one attempt for all of them.
        if let failure, refused.handout.failures < failures,
            uptime < max(failure.until, failure.at + policy.failureSharing)
        {
            // Never zero: a caller that asks again with the same token, and not for a token, would spin.
            let pause = max(failure.until - uptime, policy.backoff.floor)
            fail(waiter, failure.error, retryAfter: pause)
            return
        }
        if let pause = pauseAfterLoop(refusal) {
            // Another process may have replaced the token (G10).
            guard settings.isShared else { return refuse(waiter, .unauthorized, retryAfter: pause) }
            return context.room.add(waiter, to: .nextCheck)
        }
        waitForRefresh(waiter)
    }

    mutating func refusedWithoutRefreshToken(_ refusal: TokenRefusal, _ waiter: Waiter) {
        refuse(waiter, .noRefreshToken)
        let isExpired = urgency == .expired && isExpiryCertain
        guard isExpired || refusal.saysTokenIsInvalid else { return }
        var ending = ending(nil)
        (ending.status, ending.code, ending.requestID) = (refusal.status, refusal.serverCode, refusal.requestID)
        endWithoutRefreshToken(ending)
    }

    /// G10: how long the refusing endpoint causes no refresh.
    mutating func pauseAfterLoop(_ refusal: TokenRefusal) -> Duration? {
        guard urgency != .expired else { return nil }
        if let pause = loops.pause(of: refusal.endpoint, at: uptime) { return pause }
        // A token that lives for seconds is old sooner.
        let freshness = bundle.lifetime.map { min(policy.freshness, $0 / 4) } ?? policy.freshness
        let isReplacement = refusal.token.handout.replacedAt.map { uptime < $0 + freshness } ?? false
        let isFresh = validity.refreshedAt.map { uptime < $0 + freshness } ?? false
        guard isReplacement || isFresh else { return nil }
        let cooldown = policy.refusalCooldown
        let outcome = loops.refused(
            by: refusal.endpoint, isReplacement: isReplacement, isAdopted: validity.isAdopted, at: uptime,
            cooldown: cooldown
        )
        guard case .unauthorized(let pause, let isNew) = outcome else { return nil }
        if isNew {
            let (session, generation) = (bundle.session, bundle.generation)
            emit(.report(.refusedAfterRefresh(session: session, generation: generation, retryAfter: pause)))
        }
        return pause
    }

    /// A check of the store for a caller whose endpoint has refused a fresh token has ended (G10).
    mutating func serveAfterCheck(_ waiter: Waiter) {
        guard case .replacement(let refusal) = waiter.request, refusal.token.session == bundle.session else {
            return refuse(waiter, .sessionEnded)
        }
        if refusal.token.value != bundle.accessToken { return giveToken(to: waiter) }
        if isRefreshing {
            // The attempt under way uses what the check has found.
            join(waiter)
        } else {
            // The check may have lasted longer than the cool-down, as in a process that was suspended meanwhile.
            guard let pause = loops.pause(of: refusal.endpoint, at: uptime), urgency != .expired else {
                return waitForRefresh(waiter)
            }
            refuse(waiter, .unauthorized, retryAfter: pause)
        }
    }

    /// Joins the refresh under way, or starts one; during a pause waits for its end if that is near (G1, G6).
    mutating func waitForRefresh(_ waiter: Waiter) {
        switch phase {
        case .activating:
            waitForActivation(waiter)
        case .refreshing:
            join(waiter)
        case .resting where isCalling:
            if waitsForHeir(waiter) { return }
            // G8. The call of an attempt that missed its deadline is still under way: no second one is made.
            let error = failure?.error ?? TokenRefreshError(.unavailable, reason: "a refresh is still under way")
            fail(waiter, error, retryAfter: pauseLeft ?? policy.backoff.floor)
        case .resting:
            guard let failure, let left = pauseLeft else {
                join(waiter)
                return start()
            }
            let limit = min(
                policy.maximumPauseWait, waiter.since + policy.deadline - uptime)
            guard left <= limit else {
                return fail(waiter, failure.error, retryAfter: left)
            }
            if context.room.isEmpty(.pause) { emit(.startTimer(.cooldown(bundle.session), at: failure.until)) }
            context.room.add(waiter, to: .pause)
        }
    }
}
