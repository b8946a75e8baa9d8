public import AuthInterface

/// Something the refresh engine did, for logs and metrics. No event contains a token.
public enum SessionEvent: Sendable {
    /// A refresh began. `generation` is that of the bundle it starts from.
    case refreshStarted(session: SessionID, generation: Int)

    /// A refresh brought new tokens, which are in use now.
    case refreshed(session: SessionID, generation: Int)

    /// Another process had refreshed already; its tokens are in use now and no call was made.
    case adopted(session: SessionID, generation: Int)

    /// A refresh could not be had. The session stays; the next try is not made before the time given.
    case refreshFailed(session: SessionID, error: TokenRefreshError, retryAfter: Duration)

    /// A server refused a token that had just been refreshed; no refresh goes out for it until the time given.
    case refusedAfterRefresh(session: SessionID, generation: Int, retryAfter: Duration)

    /// The answer of a refresh came when its session was over. It was dropped.
    case answerDropped(session: SessionID)

    /// The answer of a refresh came after its deadline, and was still good.
    case lateAnswerKept(session: SessionID, generation: Int)

    /// The store could not be read or written. What it should hold is kept in memory and tried again.
    case storeFailed(TokenStoreError)

    /// A session began, or was found in the store.
    case signedIn(session: SessionID)

    /// The session ended.
    case signedOut(SignOutReason)

    /// The server could not be told that tokens are no longer wanted.
    case revocationFailed(session: SessionID)
}
