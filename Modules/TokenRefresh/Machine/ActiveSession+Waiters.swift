import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The responses to callers, and the callers that wait.
extension ActiveSession {
    func give(_ waiter: Waiter, _ context: inout MachineContext) {
        switch waiter.request {
        case .token: context.emit(.respond(waiter.id, .token(token())))
        case .replacement: context.emit(.respond(waiter.id, .token(token(replacedAt: context.now.uptime))))
        case .refresh, .restore, .settle: context.emit(.respond(waiter.id, .state(.signedIn(bundle.session))))
        }
    }

    func refuse(
        _ waiter: Waiter,
        _ code: AuthenticationError.Code,
        retryAfter: Duration? = nil,
        _ context: inout MachineContext
    ) {
        context.emit(.respond(waiter.id, .failed(AuthenticationError(code, retryAfter: retryAfter))))
    }

    func fail(
        _ waiter: Waiter,
        _ error: TokenRefreshError,
        retryAfter: Duration,
        _ context: inout MachineContext
    ) {
        context.emit(.respond(waiter.id, .failed(.unavailable(error, retryAfter: retryAfter))))
    }

    /// Fails a waiter of an attempt, or returns the current token to it if that is still valid (G3).
    func endWait(
        of waiter: Waiter,
        _ error: TokenRefreshError,
        retryAfter: Duration,
        _ context: inout MachineContext
    ) {
        if case .token = waiter.request, expiry.urgency(at: context.now.uptime) != .expired {
            give(waiter, &context)
        } else {
            fail(waiter, error, retryAfter: retryAfter, &context)
        }
    }

    // MARK: Waiting

    /// Lets a caller wait for an attempt.
    mutating func join(_ waiter: Waiter, _ context: inout MachineContext) {
        context.room.add(waiter, to: .attempt)
        timeWaiters(since: waiter.since, &context)
    }

    /// A caller that has waited before, as for a pause or the store, has less time left than the attempt (G25).
    mutating func timeWaiters(since: Duration?, _ context: inout MachineContext) {
        guard let since, since < context.now.uptime else { return }
        let end = since + context.policy.deadline
        guard waitersEnd.map({ end < $0 }) ?? true else { return }
        waitersEnd = end
        context.emit(.startTimer(.waiterDeadline, at: end))
    }

    /// G25: the callers that have waited for the whole deadline fail. The attempt continues.
    mutating func waiterDeadlinePassed(_ context: inout MachineContext) {
        waitersEnd = nil
        guard case .refreshing = phase else { return }
        let limit = context.policy.deadline
        let reason = leaseHolder == nil ? "waited \(limit.inWords) for a refresh" : waitReason(context)
        let error = TokenRefreshError(.unavailable, reason: reason)
        // The deadlines of many callers within a short time pass together.
        for waiter in context.room.take(.attempt, since: context.now.uptime + limit / 64 - limit) {
            endWait(of: waiter, error, retryAfter: context.policy.backoff.floor, &context)
        }
        timeWaiters(since: context.room.earliest(at: .attempt), &context)
    }

    /// Stops the deadlines of an attempt that has ended.
    mutating func stopDeadlines(_ context: inout MachineContext) {
        guard case .refreshing(let id, _) = phase else { return }
        context.emit(.stopTimer(.deadline(id)))
        guard waitersEnd != nil else { return }
        waitersEnd = nil
        context.emit(.stopTimer(.waiterDeadline))
    }

    /// Handles the requests of the waiters of a pause, or of a sign-in, again.
    mutating func serveQueue(_ context: inout MachineContext) -> SessionOutcome {
        var outcome = SessionOutcome.continues
        for waiter in context.room.take(.pause) {
            if case .continues = outcome {
                outcome = requestedAgain(waiter, &context)
            } else {
                // The session is over for the rest, too.
                context.room.add(waiter, to: .attempt)
            }
        }
        return outcome
    }

    /// A refusal that waited for the end of a pause causes a refresh now, unless the token has changed.
    mutating func requestedAgain(_ waiter: Waiter, _ context: inout MachineContext) -> SessionOutcome {
        guard case .replacement(let refusal) = waiter.request, refusal.token.value == bundle.accessToken,
            refusal.token.session == bundle.session, isRefreshable
        else { return requested(waiter, &context) }
        waitForRefresh(waiter, &context)
        return .continues
    }
}

extension AuthenticationError {
    /// The error of a refresh that could not be made.
    static func unavailable(_ error: TokenRefreshError, retryAfter: Duration) -> AuthenticationError {
        // A store that is busy with the refresh of another process has not failed.
        let isStore = (error.cause as? TokenStoreError).map { $0.code != .busy } ?? false
        return AuthenticationError(
            isStore ? .storeUnavailable : .refreshUnavailable,
            retryAfter: retryAfter,
            cause: isStore ? error.cause : error
        )
    }
}
