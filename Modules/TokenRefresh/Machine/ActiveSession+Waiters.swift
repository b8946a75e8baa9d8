import AuthInterface
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

    /// Handles the requests of the waiters of a pause, or of a sign-in, again.
    mutating func serveQueue(_ context: inout MachineContext) -> SessionOutcome {
        var outcome = SessionOutcome.continues
        for waiter in queue.takeAll() {
            if case .continues = outcome {
                outcome = requestedAgain(waiter, &context)
            } else {
                // The session is over for the rest, too.
                waiting.add(waiter)
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

    /// Removes all waiters: the session has ended (G23).
    mutating func takeWaiters(_ context: inout MachineContext) -> [Waiter] {
        if case .refreshing(let id, _) = phase { context.emit(.stopTimer(.deadline(id))) }
        return waiting.takeAll() + queue.takeAll()
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
