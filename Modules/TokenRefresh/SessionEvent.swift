public import AuthInterface

/// Something the refresh engine did, for logs and metrics. No event contains a token.
public enum SessionEvent: Sendable {
    /// A refresh started. `generation` is that of the bundle it starts from.
    case refreshStarted(session: SessionID, generation: Int)

    /// A refresh brought new tokens, which are in use now.
    case refreshed(session: SessionID, generation: Int)

    /// Another process had refreshed already; its tokens are in use now and no call was made.
    case adopted(session: SessionID, generation: Int)

    /// A refresh failed. The session stays; the next attempt is not made before the time given.
    case refreshFailed(session: SessionID, error: TokenRefreshError, retryAfter: Duration)

    /// A server refused a token that had just been refreshed; the endpoint causes no refresh until the time given.
    case refusedAfterRefresh(session: SessionID, generation: Int, retryAfter: Duration)

    /// The response of a refresh came when its session was over, or when newer tokens were in use. It was dropped.
    case responseDropped(session: SessionID)

    /// The response of a refresh came after its deadline, and was still valid.
    case lateResponseKept(session: SessionID, generation: Int)

    /// A call of the refresh handler did not end when it was cancelled, and was given up (G8).
    case callAbandoned(session: SessionID, generation: Int)

    /// The store could not be read or written. What it should hold is kept in memory and tried again.
    case storeFailed(TokenStoreError)

    /// A session started, or was found in the store.
    case signedIn(session: SessionID)

    /// The session ended.
    case signedOut(SignOutReason)

    /// The server could not be told that tokens are no longer wanted.
    case revocationFailed(session: SessionID)
}
