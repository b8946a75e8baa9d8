import AuthInterface
import Foundation

/// What the machine asks its shell to do. The shell does it in this order and reports back by events.
enum RefreshAction: Sendable {
    // Store. Each runs on its own; the machine asks for the next when it may.
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

/// What a waiting caller is told. Each is told exactly once.
enum RefreshResponse: Sendable {
    case token(SessionToken)
    case state(SessionState)
    case done
    case failed(AuthenticationError)
    case cancelled
}
