import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The responses to callers, and the callers that wait.
extension ActiveSession {
    /// Gives a caller what it asked for, as the session has it now.
    mutating func give(_ waiter: Waiter) { emit(.respond(waiter.id, response(to: waiter.request))) }

    mutating func response(to request: CallerRequest) -> RefreshResponse {
        switch request {
        case .token: .token(token())
        case .replacement: .token(token(replacedAt: uptime))
        case .refresh, .restore, .settle: .state(.signedIn(bundle.session))
        }
    }

    mutating func refuse(_ waiter: Waiter, _ code: AuthenticationError.Code, retryAfter: Duration? = nil) {
        emit(.respond(waiter.id, .failed(AuthenticationError(code, retryAfter: retryAfter))))
    }

    mutating func fail(_ waiter: Waiter, _ error: TokenRefreshError, retryAfter: Duration) {
        let error = userAction?.error(after: error) ?? error
        emit(.respond(waiter.id, .failed(.unavailable(error, retryAfter: retryAfter))))
    }

    /// Fails a waiter of an attempt, or returns the current token to it if that is still valid (G3).
    mutating func endWait(of waiter: Waiter, _ error: TokenRefreshError, retryAfter: Duration) {
        switch waiter.request {
        case .token:
            guard urgency == .expired else { return give(waiter) }
            fail(waiter, error, retryAfter: retryAfter)
        case .replacement, .refresh, .restore, .settle: fail(waiter, error, retryAfter: retryAfter)
        }
    }

    // MARK: Waiting

    /// Lets a caller wait for an attempt.
    mutating func join(_ waiter: Waiter) {
        context.room.add(waiter, to: .attempt)
        timeWaiters(since: waiter.since)
    }

    /// Lets a caller wait until the tokens of a sign-in are stored.
    mutating func waitForActivation(_ waiter: Waiter) {
        context.room.add(waiter, to: .pause)
        timeWaiters(since: waiter.since)
    }

    /// A caller that has waited before, as for a pause or the store, has less time left than the attempt (G25).
    mutating func timeWaiters(since: Duration?) {
        guard let since, since < uptime else { return }
        endWaits(at: since + policy.deadline)
    }

    /// Sets the timer for the end of the first wait.
    mutating func endWaits(at end: Duration) {
        guard waitersEnd.map({ end < $0 }) ?? true else { return }
        waitersEnd = end
        emit(.startTimer(.waiterDeadline, at: end))
    }

    /// G25: the callers that have waited for the whole deadline fail. The attempt continues.
    mutating func waiterDeadlinePassed() {
        waitersEnd = nil
        let limit = policy.deadline
        // The deadlines of many callers within a short time pass together.
        let latest = uptime + limit / 64 - limit
        switch phase {
        case .resting: break
        case .activating:
            // They have waited for a refresh, and then for the write of a step-up, whose token is not stored yet.
            let error = TokenRefreshError(.unavailable, reason: "waited \(limit.inWords) for a refresh and the store")
            for waiter in context.room.take(.pause, since: latest) {
                fail(waiter, error, retryAfter: policy.backoff.floor)
            }
            timeWaiters(since: context.room.earliest(at: .pause))
        case .refreshing:
            let reason = leaseHolder == nil ? "waited \(limit.inWords) for a refresh" : waitReason
            let error = TokenRefreshError(.unavailable, reason: reason)
            for waiter in context.room.take(.attempt, since: latest) {
                endWait(of: waiter, error, retryAfter: policy.backoff.floor)
            }
            timeWaiters(since: context.room.earliest(at: .attempt))
        }
    }

    /// Stops the deadlines of an attempt that has ended.
    mutating func stopDeadlines() {
        guard case .refreshing(let id, _) = phase else { return }
        emit(.stopTimer(.deadline(id)))
        guard waitersEnd != nil else { return }
        waitersEnd = nil
        emit(.stopTimer(.waiterDeadline))
    }

    /// Handles the requests of the waiters of a pause, or of a sign-in, again.
    mutating func serveQueue() {
        for waiter in context.room.take(.pause) {
            // A session that has ended is over for the rest, too.
            if context.outcome == nil { requestedAgain(waiter) } else { context.room.add(waiter, to: .attempt) }
        }
    }

    /// A refusal that waited for the end of a pause causes a refresh now, unless the token has changed.
    mutating func requestedAgain(_ waiter: Waiter) {
        guard case .replacement(let refusal) = waiter.request,
            refusal.token.value == bundle.accessToken,
            refusal.token.session == bundle.session, isRefreshable
        else { return requested(waiter) }
        waitForRefresh(waiter)
    }
}

extension AuthenticationError {
    /// The error of a refresh that could not be made.
    static func unavailable(_ error: TokenRefreshError, retryAfter: Duration) -> AuthenticationError {
        // A store that is busy with the refresh of another process has not failed.
        let isStore = (error.cause as? TokenStoreError).map { $0.code != .busy } ?? false
        let refused: Code = error.code == .userActionRequired ? .stepUpRequired : .refreshUnavailable
        return AuthenticationError(
            isStore ? .storeUnavailable : refused,
            retryAfter: retryAfter,
            cause: isStore ? error.cause : error
        )
    }
}
