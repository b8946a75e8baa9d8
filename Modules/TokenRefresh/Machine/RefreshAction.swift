import AuthInterface
import Foundation

/// What the machine asks its shell to do. The shell does it in this order and reports back by events.
enum RefreshAction: Sendable {
    // Store. These reach the store one after another, in the order they were asked for.
    case load
    case lease(AttemptID)
    case reread(AttemptID)
    case write(version: Int, StoreContent)
    case release(AttemptID)

    // Server.
    case call(AttemptID, base: TokenBundle, refreshToken: String)
    case cancelCall(AttemptID)
    case revoke(TokenBundle)

    // Clock.
    case startTimer(RefreshTimer, at: Duration)
    case stopTimer(RefreshTimer)

    // Those who wait and watch.
    case answer(WaiterID, RefreshAnswer)
    case publish(SessionState)
    case report(SessionEvent)
}

/// What a waiter is told. Each is told exactly once.
enum RefreshAnswer: Sendable {
    case token(SessionToken)
    case state(SessionState)
    case done
    case failed(AuthenticationError)
    case cancelled
}
