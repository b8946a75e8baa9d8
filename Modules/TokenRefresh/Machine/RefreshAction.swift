import AuthInterface

/// An output of the machine. The shell runs the actions in this order and reports their results as events.
enum RefreshAction: Sendable {
    // Store. Each runs on its own; the machine starts the next one when it may.
    case read(ReadPurpose)
    case lease(AttemptID)
    case release(AttemptID)
    case write(version: Int, StoreContent)

    // Server.
    case call(AttemptID, base: TokenBundle, TokenRefreshRequest)
    case cancelCall(AttemptID)
    /// `besideAnother`: another session is signed in, so the handler must affect this one only (G9).
    case revoke(TokenBundle, besideAnother: Bool)

    // Clock.
    case startTimer(RefreshTimer, at: Duration)
    case stopTimer(RefreshTimer)

    // Callers and observers.
    case respond(WaiterID, RefreshResponse)
    case publish(SessionState)
    case report(SessionEvent)
}

/// The response to a caller. Each caller gets exactly one.
enum RefreshResponse: Sendable {
    case token(SessionToken)
    case state(SessionState)
    case done
    case failed(AuthenticationError)
    case cancelled
}
