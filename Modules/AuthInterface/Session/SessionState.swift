/// What is known of a session.
public enum SessionState: Sendable, Hashable {
    /// The store has not answered yet. Neither signed in nor signed out: show the splash screen.
    case unknown

    /// There is no session, and why.
    case signedOut(SignOutReason)

    /// There is a session.
    case signedIn(SessionID)
}

/// Why there is no session.
public enum SignOutReason: Sendable, Hashable {
    /// Nothing was stored: nobody has signed in yet.
    case never

    /// The user signed out, here or in another process that shares the store.
    case byUser

    /// The authorisation server refused the refresh token. The only reason the engine itself ends a session for.
    case expired
}
