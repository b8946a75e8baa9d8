import AuthInterface
import ConcurrencyPrimitives

/// The responses to callers, and the callers that wait.
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

    // MARK: Waiting

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
        let (queue, limit) = (isActivating ? Callers.Queue.pause : .attempt, context.policy.deadline)
        var reason = leaseHolder == nil ? "waited \(limit.inWords) for a refresh" : waitReason(context.policy)
        switch phase {
        case .resting: return
        case .activating: reason += " and the store"
        case .refreshing: break
        }
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
}
