public import AuthInterface

/// An event of the refresh engine, for logs and metrics. No event contains a token.
public enum SessionEvent: Sendable {
    /// A refresh started. `generation` is that of the bundle it starts from.
    case refreshStarted(session: SessionID, generation: Int)

    /// A refresh returned new tokens, which are in use now.
    case refreshed(session: SessionID, generation: Int)

    /// Another process had refreshed; its tokens are in use now and no call was made.
    case adopted(session: SessionID, generation: Int)

    /// A refresh failed. The session is kept. The next attempt is made after `retryAfter` at the earliest.
    case refreshFailed(session: SessionID, error: TokenRefreshError, retryAfter: Duration)

    /// The server issues no tokens until the user has acted (G32). The session is kept, its token is used while it is
    /// valid, and a step-up repairs it. Reported once for each challenge that differs from the one before.
    case userActionRequired(session: SessionID, StepUpChallenge)

    /// A server refused a token that had just been refreshed; the endpoint causes no refresh within `retryAfter`.
    case refusedAfterRefresh(session: SessionID, generation: Int, retryAfter: Duration)

    /// A response was dropped: its session had ended, or newer tokens were in use.
    case responseDropped(session: SessionID)

    /// A response came after its deadline, and its tokens are used.
    case lateResponseKept(session: SessionID, generation: Int)

    /// A call of the refresh handler did not end when it was cancelled, and was abandoned (G8).
    case callAbandoned(session: SessionID, generation: Int)

    /// The store could not be read or written. The content is kept in memory and written again, also after the
    /// application has released the engine.
    case storeFailed(TokenStoreError)

    /// The journal could not be read or written (G30). Nothing else is affected by it: the session stays, a lost one is
    /// not recognized, and a sign-out that the store does not take either does not last.
    case journalFailed(TokenStoreError)

    /// The store cannot report the changes of other processes now, as where the system's limit of watches is reached.
    /// It is checked after each `pause`, or sooner.
    case storeNotWatched(pause: Duration)

    /// A session started, or was found in the store.
    case signedIn(session: SessionID)

    /// The session ended.
    case signedOut(SignOutReason)

    /// The expiry of new tokens was ignored, because it cannot be placed in time. `expiry` is what the server wrote. As
    /// without one, the expiry in the token itself counts, if it has one.
    case expiryIgnored(session: SessionID, expiry: String)

    /// A refresh returned the tokens of another subject, as from a cache between the server and this process. They were
    /// dropped, and not revoked: they belong to another user's session. The response of the refresh counts as lost
    /// (G31).
    case otherSubjectIgnored(session: SessionID)

    /// The id token of a refresh failed its check, or could not be checked. The tokens are used, and it says nothing of
    /// the user (G31).
    case idTokenIgnored(session: SessionID, problem: String)

    /// The server has granted less than was asked for: `missing` are the parts of the scope that the new access token
    /// does not have (RFC 6749 §3.3, §5.1). The token is used (G31).
    case scopeNarrowed(session: SessionID, missing: Set<String>)

    /// A revocation failed or took longer than the deadline.
    case revocationFailed(session: SessionID)
}
