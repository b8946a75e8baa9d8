import AuthInterface
import ConcurrencyPrimitives

/// The responses to callers, the callers that wait, and the limits of an attempt and of its call (G8).
extension ActiveSession {
    func give(_ waiter: Waiter, _ context: inout Context) {
        let response: RefreshResponse =
            switch waiter.request {
            case .token: .token(token())
            case .replacement: .token(token(replacedAt: context.uptime))
            case .refresh, .restore, .settle: .state(.signedIn(bundle.session))
            }
        context.emit(.respond(waiter.id, response))
    }

    func fail(_ waiter: Waiter, _ error: TokenRefreshError, retryAfter: Duration, _ context: inout Context) {
        let error = pacing.userAction?.error(after: error) ?? error
        // A store that is busy with the refresh of another process has not failed.
        let isStore = (error.cause as? TokenStoreError).map { $0.code != .busy } ?? false
        let refused: AuthenticationError.Code =
            error.code == .userActionRequired ? .stepUpRequired : .refreshUnavailable
        context.refuse(
            waiter, isStore ? .storeUnavailable : refused, retryAfter: retryAfter, cause: isStore ? error.cause : error)
    }

    /// The refresh that callers wait for was made: by this or another process, or with a step-up.
    func giveRefreshed(_ context: inout Context) {
        for waiter in context.callers.take(.pause) {
            if waiter.request == .refresh { give(waiter, &context) } else { context.callers.add(waiter, to: .pause) }
        }
    }

    /// Fails a waiter of an attempt, or returns the current token to it if that is still valid (G3).
    func endWait(of waiter: Waiter, _ error: TokenRefreshError, retryAfter: Duration, _ context: inout Context) {
        // The token of a step-up is not stored yet.
        let isUsable = !isActivating && window.urgency(at: context.uptime) != .expired
        if waiter.request == .token, isUsable { return give(waiter, &context) }
        fail(waiter, error, retryAfter: retryAfter, &context)
    }

    /// Lets a caller wait for the attempt, or until the tokens of a sign-in are stored.
    mutating func join(_ waiter: Waiter, _ context: inout Context) {
        context.callers.add(waiter, to: isActivating ? .pause : .attempt)
        timeWaiters(since: waiter.since, &context)
    }

    /// Callers that have waited before have less time left than the attempt (G25). The timer is that of the first one.
    mutating func timeWaiters(since: Duration?, _ context: inout Context) {
        guard let since, since < context.uptime else { return }
        let end = since + context.policy.deadline
        guard waitersEnd.map({ end < $0 }) ?? true else { return }
        waitersEnd = end
        context.emit(.startTimer(.waiterDeadline, at: end))
    }

    /// G25: the callers that have waited for the whole deadline fail. The attempt continues.
    mutating func waiterDeadlinePassed(_ context: inout Context) {
        waitersEnd = nil
        guard !isIdle else { return }
        let (queue, limit) = (isActivating ? Callers.Queue.pause : .attempt, context.policy.deadline)
        var reason = leaseHolder == nil ? "waited \(limit.inWords) for a refresh" : waitReason(context.policy)
        if isActivating { reason += " and the store" }
        let error = TokenRefreshError(.unavailable, reason: reason)
        // The deadlines of many callers within a short time pass together.
        for waiter in context.callers.take(queue, since: context.uptime + limit / 64 - limit) {
            endWait(of: waiter, error, retryAfter: context.policy.backoff.floor, &context)
        }
        timeWaiters(since: context.callers.earliest(at: queue), &context)
    }

    mutating func stopDeadlines(_ context: inout Context) {
        guard case .refreshing(let id, _) = phase else { return }
        context.emit(.stopTimer(.deadline(id)))
        guard waitersEnd != nil else { return }
        waitersEnd = nil
        context.emit(.stopTimer(.waiterDeadline))
    }

    /// Handles the requests of the waiters of a pause, or of a sign-in, again.
    mutating func serveQueue(_ context: inout Context) {
        for waiter in context.callers.take(.pause) {
            // A session that has ended is over for the rest, too.
            if context.outcome == nil {
                requestedAgain(waiter, &context)
            } else {
                context.callers.add(waiter, to: .attempt)
            }
        }
    }

    /// A refusal that waited for the end of a pause causes a refresh now, unless the token has changed.
    private mutating func requestedAgain(_ waiter: Waiter, _ context: inout Context) {
        guard case .replacement(let refusal) = waiter.request,
            refusal.token.value == bundle.accessToken,
            refusal.token.session == bundle.session, context.canRefresh(bundle)
        else { return requested(waiter, &context) }
        waitForRefresh(waiter, &context)
    }

    // MARK: Limits

    /// G8: the waiters fail; the call continues.
    mutating func deadlinePassed(_ id: AttemptID, _ context: inout Context) {
        guard case .refreshing(id, let stage) = phase else { return }
        let limit = context.policy.deadline.inWords
        switch stage {
        case .calling: failAttempt(because: "no response within \(limit)", &context)
        case .leasing: failAttempt(because: waitReason(context.policy), &context)
        case .reading, .writing(.intent, _):
            if case .writing = stage { forgetIntent(&context) }
            let reason = "no response from the store within \(limit)"
            let cause = TokenStoreError(.unavailable, reason: reason)
            failAttempt(because: reason, cause: cause, &context)
        case .writing(let write, _): notWritten(write, .noResponse(within: context.policy.deadline), &context)
        }
    }

    /// Why an attempt ends that waited for another process, which may be stopped (G24).
    func waitReason(_ policy: TokenRefreshPolicy) -> String {
        let limit = policy.deadline.inWords
        guard let leaseHolder else { return "waited \(limit) for the refresh of another process" }
        return "waited \(limit) for the lease of the store, held by \(leaseHolder); if that process is stopped, "
            + "continue it or end it"
    }

    /// G8: the call under way has passed its second limit, or is not needed any more.
    mutating func cancelCall(_ context: inout Context) {
        guard let call = calls.call, call.progress == .underWay else { return }
        calls.call?.progress = .cancelled
        context.cancelCall(call.id)
    }

    /// G8: the call did not end when it was cancelled. Once its mark is stored, it counts as a lost response.
    mutating func abandonmentDue(_ id: AttemptID, _ context: inout Context) {
        guard let call = calls.call, call.id == id, call.progress == .cancelled else { return }
        context.emit(.report(.callAbandoned(session: bundle.session, generation: bundle.generation)))
        calls.call?.progress = .abandoned
        mark(&context)
    }

    /// The lease must be released, and the intent must say that the call may be under way (rule 4).
    mutating func suspensionNear(_ context: inout Context) {
        mark(&context)
        guard context.lease.isHeld else { return }
        endWithoutLease("the process is about to be suspended", &context)
    }

    /// Ends an attempt that must not call, nor end the session, without the lease: another process may call (rule 4).
    mutating func endWithoutLease(_ reason: String, _ context: inout Context) {
        guard case .refreshing(_, let stage) = phase else { return }
        switch stage {
        case .reading: break
        case .writing(.intent, _): forgetIntent(&context)
        case .leasing, .calling, .writing: return
        }
        failAttempt(because: reason, &context)
    }
}
