import AuthInterface

/// An output of the machine. The shell runs the actions in this order and reports their results as events. Large values
/// are in boxes: a burst of responses is a long list of actions.
enum RefreshAction: Sendable {
    // Store. Each runs on its own; the machine starts the next one when it may.
    case read(ReadPurpose)
    case lease(AttemptID)
    case release(AttemptID)
    indirect case write(version: Int, StoreContent)

    // Server.
    /// `startBefore`: when no byte of it may be written any more (G28).
    indirect case call(AttemptID, base: TokenBundle, TokenRefreshRequest, startBefore: Duration)
    case cancelCall(AttemptID)
    /// Its session has ended: a call of which no byte was written is not made any more (G28).
    case withdrawCall(AttemptID)
    /// `besideAnother`: another session is signed in, so the handler must affect this one only (G9).
    indirect case revoke(TokenBundle, besideAnother: Bool)

    /// The session has ended: the key to which its tokens were bound is deleted (G34).
    indirect case releaseKey(TokenBinding)

    // Clock.
    case startTimer(RefreshTimer, at: Duration)
    case stopTimer(RefreshTimer)

    // Callers and observers.
    case respond(WaiterID, RefreshResponse)
    indirect case publish(SessionState)
    indirect case report(SessionEvent)
}

/// The response to a caller. Each caller gets exactly one. In a box, as a crowd gets a list of them.
indirect enum RefreshResponse: Sendable {
    case token(SessionToken)
    case state(SessionState)
    case done
    case failed(AuthenticationError)
    case cancelled
}
