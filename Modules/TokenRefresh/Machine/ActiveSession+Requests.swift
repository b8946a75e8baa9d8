import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// Requests: a token for one that starts, a better one for one that was refused.
extension ActiveSession {
    mutating func asked(_ waiter: Waiter, _ context: inout MachineContext) -> SessionOutcome {
        switch waiter.wish {
        case .token: return giveToken(to: waiter, &context)
        case .replacement(let refusal): return tokenRefused(refusal, waiter, &context)
        case .refresh:
            guard isRefreshable else {
                refuse(waiter, .noRefreshToken, &context)
                return .goesOn
            }
            waitForRefresh(waiter, &context)
            return .goesOn
        case .restore, .settle: return .goesOn
        }
    }

    mutating func cancel(_ waiter: WaiterID) -> Bool {
        waiting.remove(waiter) || queue.remove(waiter)
    }

    /// Gives the current token, or lets the caller wait for a better one (G3).
    mutating func giveToken(to waiter: Waiter, _ context: inout MachineContext) -> SessionOutcome {
        guard !isActivating else {
            queue.add(waiter)
            return .goesOn
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
        return .goesOn
    }

    var isRefreshing: Bool { if case .refreshing = phase { true } else { false } }

    /// G22. A wrong clock does not end a session: where the server's clock is not known, the server decides.
    mutating func withoutRefreshToken(_ waiter: Waiter, _ context: inout MachineContext) -> SessionOutcome {
        guard isExpiryCertain(context) else {
            give(waiter, &context)
            return .goesOn
        }
        refuse(waiter, .noRefreshToken, &context)
        return .ends(.expired(ending(nil, context)), revoking: nil, inStore: false)
    }

    /// Whether no clock that can be set has a part in the expiry.
    func isExpiryCertain(_ context: MachineContext) -> Bool {
        isCountedFromReceipt || (context.serverClock.isKnown && bundle.isDatedByServer)
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
            return .goesOn
        }
        // G2. Request B was sent with the old token and is refused after A's refresh is done. The refusal says nothing
        // about the current token. Another refresh would spend the new refresh token for nothing, and a server that
        // rotates may take that for theft. The same when another process's token has taken the place of ours.
        let isLate =
            refused.generation < bundle.generation
            || (refused.generation == bundle.generation && refused.value != bundle.accessToken)
        if isLate { return giveToken(to: waiter, &context) }
        guard isRefreshable else { return refusedWithoutRefreshToken(refusal, waiter, &context) }
        if isRefreshing || isActivating {
            waitForRefresh(waiter, &context)
            return .goesOn
        }
        // G6. A request that was sent before the last attempt failed shares that failure.
        if let failure, refused.handout.failures < failures {
            let end = max(failure.until, failure.at + context.policy.failureSharing)
            if uptime < end {
                fail(waiter, failure.error, retryAfter: end - uptime, &context)
                return .goesOn
            }
        }
        if let pause = pauseAfterLoop(refusal, &context) {
            answerUnauthorized(waiter, refusal, pause, &context)
            return .goesOn
        }
        waitForRefresh(waiter, &context)
        return .goesOn
    }

    func refusedWithoutRefreshToken(
        _ refusal: TokenRefusal,
        _ waiter: Waiter,
        _ context: inout MachineContext
    ) -> SessionOutcome {
        refuse(waiter, .noRefreshToken, &context)
        let isExpired =
            expiry.urgency(at: context.now.uptime) == .expired && isExpiryCertain(context)
        guard isExpired || refusal.saysTokenIsInvalid else { return .goesOn }
        var ending = ending(nil, context)
        (ending.status, ending.code, ending.requestID) = (refusal.status, refusal.serverCode, refusal.requestID)
        return .ends(.expired(ending), revoking: nil, inStore: false)
    }

    /// G10: how long the refusing endpoint causes no refresh.
    mutating func pauseAfterLoop(_ refusal: TokenRefusal, _ context: inout MachineContext) -> Duration? {
        let (uptime, policy) = (context.now.uptime, context.policy)
        guard expiry.urgency(at: uptime) != .expired else { return nil }
        if let pause = loops.pause(of: refusal.endpoint, at: uptime) { return pause }
        let isReplacement = refusal.token.handout.replacedAt.map { uptime < $0 + policy.freshness } ?? false
        let isFresh = refreshedAt.map { uptime < $0 + policy.freshness } ?? false
        guard isReplacement || isFresh else { return nil }
        let outcome = loops.refused(
            by: refusal.endpoint, isReplacement: isReplacement, at: uptime, cooldown: policy.refusalCooldown
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

    /// Looks into a shared store first: another process may have replaced the token (G10).
    mutating func answerUnauthorized(
        _ waiter: Waiter,
        _ refusal: TokenRefusal,
        _ pause: Duration,
        _ context: inout MachineContext
    ) {
        guard context.settings.isShared, !context.store.isBehind else {
            return refuse(waiter, .unauthorized, retryAfter: pause, &context)
        }
        context.look(for: waiter)
    }

    /// The store was looked at for a caller whose endpoint has refused a token that was just refreshed (G10).
    mutating func serveLooker(_ waiter: Waiter, _ context: inout MachineContext) -> SessionOutcome {
        guard case .replacement(let refusal) = waiter.wish, refusal.token.session == bundle.session else {
            refuse(waiter, .sessionEnded, &context)
            return .goesOn
        }
        if refusal.token.value != bundle.accessToken { return giveToken(to: waiter, &context) }
        if isRefreshing {
            // What the look has found is taken up by the attempt under way.
            waiting.add(waiter)
        } else {
            let pause = loops.pause(of: refusal.endpoint, at: context.now.uptime)
            refuse(waiter, .unauthorized, retryAfter: pause ?? .zero, &context)
        }
        return .goesOn
    }

    /// Joins the refresh under way, or starts one; during a pause waits for its end if that is near (G1, G6).
    mutating func waitForRefresh(_ waiter: Waiter, _ context: inout MachineContext) {
        switch phase {
        case .activating:
            queue.add(waiter)
        case .refreshing:
            waiting.add(waiter)
        case .resting where call != nil:
            // G8. The call of an attempt that missed its deadline is still under way: there is no second one.
            let error = failure?.error ?? TokenRefreshError(.unavailable, reason: "a refresh is still under way")
            fail(waiter, error, retryAfter: pauseLeft(context.now.uptime) ?? context.policy.backoff.floor, &context)
        case .resting:
            guard let failure, let left = pauseLeft(context.now.uptime) else {
                waiting.add(waiter)
                return start(&context)
            }
            guard left <= context.policy.patience else {
                return fail(waiter, failure.error, retryAfter: left, &context)
            }
            if queue.isEmpty { context.emit(.startTimer(.cooldown(bundle.session), at: failure.until)) }
            queue.add(waiter)
        }
    }

    func give(_ waiter: Waiter, _ context: inout MachineContext) {
        switch waiter.wish {
        case .token: context.emit(.answer(waiter.id, .token(token())))
        case .replacement: context.emit(.answer(waiter.id, .token(token(replacedAt: context.now.uptime))))
        case .refresh, .restore, .settle: context.emit(.answer(waiter.id, .state(.signedIn(bundle.session))))
        }
    }

    func refuse(
        _ waiter: Waiter,
        _ code: AuthenticationError.Code,
        retryAfter: Duration? = nil,
        _ context: inout MachineContext
    ) {
        context.emit(.answer(waiter.id, .failed(AuthenticationError(code, retryAfter: retryAfter))))
    }

    func fail(
        _ waiter: Waiter,
        _ error: TokenRefreshError,
        retryAfter: Duration,
        _ context: inout MachineContext
    ) {
        context.emit(.answer(waiter.id, .failed(.unavailable(error, retryAfter: retryAfter))))
    }

    /// Lets those who waited for a pause to end, or for a sign-in to be stored, ask again.
    mutating func serveQueue(_ context: inout MachineContext) -> SessionOutcome {
        var outcome = SessionOutcome.goesOn
        for waiter in queue.takeAll() {
            if case .goesOn = outcome {
                outcome = askedAgain(waiter, &context)
            } else {
                // The session is over for the rest, too.
                waiting.add(waiter)
            }
        }
        return outcome
    }

    /// A refusal that was to cause a refresh before the pause does so after it, unless the token has changed.
    mutating func askedAgain(_ waiter: Waiter, _ context: inout MachineContext) -> SessionOutcome {
        guard case .replacement(let refusal) = waiter.wish, refusal.token.value == bundle.accessToken,
            refusal.token.session == bundle.session, isRefreshable
        else { return asked(waiter, &context) }
        waitForRefresh(waiter, &context)
        return .goesOn
    }

    /// Takes out every caller who waits: the session is over (G23).
    mutating func takeWaiters(_ context: inout MachineContext) -> [Waiter] {
        if case .refreshing(let id, _) = phase { context.emit(.stopTimer(.deadline(id))) }
        return waiting.takeAll() + queue.takeAll()
    }
}

extension AuthenticationError {
    /// A refresh that could not be made, as those who waited for it see it.
    static func unavailable(_ error: TokenRefreshError, retryAfter: Duration) -> AuthenticationError {
        // A store that is busy with the refresh of another process works.
        let isStore = (error.cause as? TokenStoreError).map { $0.code != .busy } ?? false
        return AuthenticationError(
            isStore ? .storeUnavailable : .refreshUnavailable,
            retryAfter: retryAfter,
            cause: isStore ? error.cause : error
        )
    }
}
