import AuthInterface
import ConcurrencyPrimitives

/// Requests: a token for a new request, and a replacement for a refused one.
extension ActiveSession {
    mutating func requested(_ waiter: Waiter, _ context: inout Context) {
        switch waiter.request {
        case .token: giveToken(to: waiter, &context)
        case .replacement(let refusal): tokenRefused(refusal, waiter, &context)
        case .refresh:
            guard context.canRefresh(bundle) else { return context.refuse(waiter, .noRefreshToken) }
            waitForRefresh(waiter, &context)
        case .restore, .settle: break
        }
    }

    /// Returns the current token, or lets the caller wait for the next one (G3).
    mutating func giveToken(to waiter: Waiter, _ context: inout Context) {
        guard !isActivating else { return join(waiter, &context) }
        let uptime = context.uptime
        let mayRefresh = canStart && pacing.pauseLeft(at: uptime) == nil && context.canRefresh(bundle)
        switch window.urgency(at: uptime) {
        case .none: give(waiter, &context)
        case .ahead:
            // G33. Right after a wake the network is often not there yet, and other devices wake with this one.
            if mayRefresh, !context.clock.isQuiet { start(&context) }
            give(waiter, &context)
        case .due where mayRefresh || isRefreshing: waitForRefresh(waiter, &context)
        case .due: give(waiter, &context)
        case .expired where context.canRefresh(bundle): waitForRefresh(waiter, &context)
        case .expired:
            // G22. A wrong clock does not end a session: while the server's clock is not known, the server decides.
            guard window.isExpiryCertain(context.clock) else { return give(waiter, &context) }
            context.refuse(waiter, .noRefreshToken)
            endWithoutRefreshToken(ending(nil, context), &context)
        }
    }

    /// Another process may have stored newer tokens, as those of a step-up: in a shared store the write decides (G13).
    private mutating func endWithoutRefreshToken(_ ending: SessionEnding, _ context: inout Context) {
        let reason = SignOutReason.expired(ending)
        guard context.settings.isShared else {
            return context.conclude(.ends(reason, revoking: nil, inStore: false))
        }
        guard canStart, pacing.pauseLeft(at: context.uptime) == nil else { return }
        writeEnd(reason, context.nextAttempt(), &context)
    }

    private mutating func tokenRefused(_ refusal: TokenRefusal, _ waiter: Waiter, _ context: inout Context) {
        let refused = refusal.token
        // G23. A request that began as one user must not be sent again as another.
        guard refused.session == bundle.session else { return context.refuse(waiter, .sessionEnded) }
        // G2. Request B was sent with the old token and is refused after A's refresh is done. That says nothing about
        // the current token, of this process or another one: a refresh would spend its refresh token for nothing, and
        // a server that rotates may count that as theft.
        if refused.value != bundle.accessToken { return giveToken(to: waiter, &context) }
        guard context.canRefresh(bundle) else {
            context.refuse(waiter, .noRefreshToken)
            let isExpired = window.urgency(at: context.uptime) == .expired && window.isExpiryCertain(context.clock)
            guard isExpired || refusal.saysTokenIsInvalid else { return }
            var ending = ending(nil, context)
            ending.status = refusal.status
            ending.code = refusal.serverCode
            ending.requestID = refusal.requestID
            return endWithoutRefreshToken(ending, &context)
        }
        if isRefreshing || isActivating { return waitForRefresh(waiter, &context) }
        if let (error, pause) = pacing.failure(sharedBy: refused, context.clock) {
            return fail(waiter, error, retryAfter: pause, &context)
        }
        guard let pause = pauseAfterLoop(refusal, &context) else { return waitForRefresh(waiter, &context) }
        // Another process may have replaced the token (G10).
        guard context.settings.isShared else { return context.refuse(waiter, .unauthorized, retryAfter: pause) }
        context.callers.add(waiter, to: .nextCheck)
    }

    private mutating func pauseAfterLoop(_ refusal: TokenRefusal, _ context: inout Context) -> Duration? {
        if let pause = window.pause(of: refusal.endpoint, at: context.uptime) { return pause }
        guard let pause = window.refused(refusal, context.clock) else { return nil }
        let (session, generation) = (bundle.session, bundle.generation)
        context.emit(.report(.refusedAfterRefresh(session: session, generation: generation, retryAfter: pause)))
        return pause
    }

    /// A check of the store for a caller whose endpoint has refused a fresh token has ended (G10).
    mutating func serveAfterCheck(_ waiter: Waiter, _ context: inout Context) {
        guard case .replacement(let refusal) = waiter.request, refusal.token.session == bundle.session else {
            return context.refuse(waiter, .sessionEnded)
        }
        if refusal.token.value != bundle.accessToken { return giveToken(to: waiter, &context) }
        // The attempt under way uses what the check has found.
        if isRefreshing { return join(waiter, &context) }
        // The check may have lasted longer than the cool-down, as in a process that was suspended meanwhile.
        guard let pause = window.pause(of: refusal.endpoint, at: context.uptime) else {
            return waitForRefresh(waiter, &context)
        }
        context.refuse(waiter, .unauthorized, retryAfter: pause)
    }

    /// Joins the refresh under way, or starts one; during a pause waits for its end if that is near (G1, G6).
    mutating func waitForRefresh(_ waiter: Waiter, _ context: inout Context) {
        let (policy, uptime) = (context.policy, context.uptime)
        let pauseLeft = pacing.pauseLeft(at: uptime)
        switch phase {
        case .activating, .refreshing: join(waiter, &context)
        case .resting where isCalling:
            // G8. The call of an attempt that missed its deadline is still under way: no second one is made.
            let error = pacing.failure?.error ?? TokenRefreshError(.unavailable, reason: "a refresh is still under way")
            fail(waiter, error, retryAfter: pauseLeft ?? policy.backoff.floor, &context)
        case .resting:
            guard let failure = pacing.failure, let pauseLeft else {
                join(waiter, &context)
                return start(&context)
            }
            guard pauseLeft <= min(policy.maximumPauseWait, waiter.since + policy.deadline - uptime) else {
                return fail(waiter, failure.error, retryAfter: pauseLeft, &context)
            }
            if context.callers.isEmpty(.pause) {
                context.emit(.startTimer(.cooldown, at: failure.until))
            }
            context.callers.add(waiter, to: .pause)
        }
    }
}
