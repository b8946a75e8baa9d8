import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// Requests: a token for a new request, and a replacement for a refused one.
extension ActiveSession {
    mutating func requested(_ waiter: Waiter, _ context: inout MachineContext) -> SessionOutcome {
        switch waiter.request {
        case .token: return giveToken(to: waiter, &context)
        case .replacement(let refusal): return tokenRefused(refusal, waiter, &context)
        case .refresh:
            guard isRefreshable else {
                refuse(waiter, .noRefreshToken, &context)
                return .continues
            }
            waitForRefresh(waiter, &context)
            return .continues
        case .restore, .settle: return .continues
        }
    }

    /// Returns the current token, or lets the caller wait for the next one (G3).
    mutating func giveToken(to waiter: Waiter, _ context: inout MachineContext) -> SessionOutcome {
        guard !isActivating else {
            context.room.add(waiter, to: .pause)
            return .continues
        }
        let uptime = context.now.uptime
        let mayRefresh = isRefreshable && canStart && pauseLeft(uptime) == nil
        let isWaitUseful: Bool
        switch expiry.urgency(at: uptime) {
        case .none: isWaitUseful = false
        case .ahead:
            isWaitUseful = false
            if mayRefresh { start(&context) }
        case .due: isWaitUseful = mayRefresh || isRefreshing
        case .expired:
            guard isRefreshable else { return withoutRefreshToken(waiter, &context) }
            isWaitUseful = true
        }
        if isWaitUseful {
            waitForRefresh(waiter, &context)
        } else {
            give(waiter, &context)
        }
        return .continues
    }

    var isRefreshing: Bool { if case .refreshing = phase { true } else { false } }

    /// G22. A wrong clock does not end a session: while the server's clock is not known, the server decides.
    mutating func withoutRefreshToken(_ waiter: Waiter, _ context: inout MachineContext) -> SessionOutcome {
        guard isExpiryCertain(context) else {
            give(waiter, &context)
            return .continues
        }
        refuse(waiter, .noRefreshToken, &context)
        return .ends(.expired(ending(nil, context)), revoking: nil, inStore: false)
    }

    /// Whether no clock that can be set has a part in the expiry.
    func isExpiryCertain(_ context: MachineContext) -> Bool {
        isExpiryMeasured || (context.serverClock.isKnown && bundle.isDatedByServer)
    }

    mutating func tokenRefused(
        _ refusal: TokenRefusal,
        _ waiter: Waiter,
        _ context: inout MachineContext
    ) -> SessionOutcome {
        let refused = refusal.token
        let uptime = context.now.uptime
        // G23. A request that began as one user must not be sent again as another.
        guard refused.session == bundle.session else {
            refuse(waiter, .sessionEnded, &context)
            return .continues
        }
        // G2. Request B was sent with the old token and is refused after A's refresh is done. The refusal says nothing
        // about the current token. Another refresh would spend the new refresh token for nothing, and a server that
        // rotates may count that as theft. The same applies when another process's token, or that of a restored backup,
        // has replaced the refused one.
        if refused.value != bundle.accessToken { return giveToken(to: waiter, &context) }
        guard isRefreshable else { return refusedWithoutRefreshToken(refusal, waiter, &context) }
        if isRefreshing || isActivating {
            waitForRefresh(waiter, &context)
            return .continues
        }
        // G6. A request that was sent before the last attempt failed shares that failure, however late it is refused: a
        // server that is slow to refuse gets one attempt for all of them.
        if let failure, refused.handout.failures < failures,
            uptime < max(failure.until, failure.at + context.policy.failureSharing)
        {
            // Never zero: a caller that asks again with the same token, and not for a token, would spin.
            let pause = max(failure.until - uptime, context.policy.backoff.floor)
            fail(waiter, failure.error, retryAfter: pause, &context)
            return .continues
        }
        if let pause = pauseAfterLoop(refusal, &context) {
            respondUnauthorized(waiter, refusal, pause, &context)
            return .continues
        }
        waitForRefresh(waiter, &context)
        return .continues
    }

    func refusedWithoutRefreshToken(
        _ refusal: TokenRefusal,
        _ waiter: Waiter,
        _ context: inout MachineContext
    ) -> SessionOutcome {
        refuse(waiter, .noRefreshToken, &context)
        let isExpired =
            expiry.urgency(at: context.now.uptime) == .expired && isExpiryCertain(context)
        guard isExpired || refusal.saysTokenIsInvalid else { return .continues }
        var ending = ending(nil, context)
        (ending.status, ending.code, ending.requestID) = (refusal.status, refusal.serverCode, refusal.requestID)
        return .ends(.expired(ending), revoking: nil, inStore: false)
    }

    /// G10: how long the refusing endpoint causes no refresh.
    mutating func pauseAfterLoop(_ refusal: TokenRefusal, _ context: inout MachineContext) -> Duration? {
        let (uptime, policy) = (context.now.uptime, context.policy)
        guard expiry.urgency(at: uptime) != .expired else { return nil }
        if let pause = loops.pause(of: refusal.endpoint, at: uptime) { return pause }
        // A token that lives for seconds is old sooner.
        let freshness = bundle.lifetime.map { min(policy.freshness, $0 / 4) } ?? policy.freshness
        let isReplacement = refusal.token.handout.replacedAt.map { uptime < $0 + freshness } ?? false
        let isFresh = refreshedAt.map { uptime < $0 + freshness } ?? false
        guard isReplacement || isFresh else { return nil }
        let outcome = loops.refused(
            by: refusal.endpoint, isReplacement: isReplacement, isAdopted: isAdopted, at: uptime,
            cooldown: policy.refusalCooldown
        )
        guard case .unauthorized(let pause, let isNew) = outcome else { return nil }
        if isNew {
            let (session, generation) = (bundle.session, bundle.generation)
            context.emit(
                .report(.refusedAfterRefresh(session: session, generation: generation, retryAfter: pause))
            )
        }
        return pause
    }

    /// Checks a shared store first: another process may have replaced the token (G10).
    mutating func respondUnauthorized(
        _ waiter: Waiter,
        _ refusal: TokenRefusal,
        _ pause: Duration,
        _ context: inout MachineContext
    ) {
        guard context.settings.isShared, !context.store.isBehind else {
            return refuse(waiter, .unauthorized, retryAfter: pause, &context)
        }
        context.room.add(waiter, to: .nextCheck)
    }

    /// A check of the store for a caller whose endpoint has refused a fresh token has ended (G10).
    mutating func serveAfterCheck(_ waiter: Waiter, _ context: inout MachineContext) -> SessionOutcome {
        guard case .replacement(let refusal) = waiter.request, refusal.token.session == bundle.session else {
            refuse(waiter, .sessionEnded, &context)
            return .continues
        }
        if refusal.token.value != bundle.accessToken { return giveToken(to: waiter, &context) }
        if isRefreshing {
            // The attempt under way uses what the check has found.
            join(waiter, &context)
        } else {
            let uptime = context.now.uptime
            // The check may have lasted longer than the cool-down, as in a process that was suspended meanwhile.
            guard let pause = loops.pause(of: refusal.endpoint, at: uptime), expiry.urgency(at: uptime) != .expired
            else {
                waitForRefresh(waiter, &context)
                return .continues
            }
            refuse(waiter, .unauthorized, retryAfter: pause, &context)
        }
        return .continues
    }

    /// Joins the refresh under way, or starts one; during a pause waits for its end if that is near (G1, G6).
    mutating func waitForRefresh(_ waiter: Waiter, _ context: inout MachineContext) {
        switch phase {
        case .activating:
            context.room.add(waiter, to: .pause)
        case .refreshing:
            join(waiter, &context)
        case .resting where call != nil:
            // G8. The call of an attempt that missed its deadline is still under way: no second one is made.
            let error = failure?.error ?? TokenRefreshError(.unavailable, reason: "a refresh is still under way")
            fail(waiter, error, retryAfter: pauseLeft(context.now.uptime) ?? context.policy.backoff.floor, &context)
        case .resting:
            guard let failure, let left = pauseLeft(context.now.uptime) else {
                join(waiter, &context)
                return start(&context)
            }
            let limit = min(
                context.policy.maximumPauseWait, waiter.since + context.policy.deadline - context.now.uptime)
            guard left <= limit else {
                return fail(waiter, failure.error, retryAfter: left, &context)
            }
            if context.room.isEmpty(.pause) { context.emit(.startTimer(.cooldown(bundle.session), at: failure.until)) }
            context.room.add(waiter, to: .pause)
        }
    }
}
