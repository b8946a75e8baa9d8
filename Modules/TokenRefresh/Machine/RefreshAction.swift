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

/// What the store should hold.
enum StoreContent: Sendable {
    /// A bundle, and what it may be written over.
    case bundle(TokenBundle, over: Predecessor)

    /// Nothing. With a session, only that session's bundle is removed: another process may have signed in since.
    case nothing(of: SessionID?)

    /// What a bundle may be written over. A store that is not shared holds nothing else, and is not asked.
    enum Predecessor: Sendable {
        /// Whatever there is: a login replaces everything.
        case anything
        /// An older bundle of the same session: a refresh replaces what it was made from, and nothing else.
        case sameSession
        /// The same, or nothing: an earlier write has failed, so that the store may never have held the session.
        case sameSessionOrNothing
    }
}
