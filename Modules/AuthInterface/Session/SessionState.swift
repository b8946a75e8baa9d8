/// The state of a session: unknown, signed out or signed in.
public enum SessionState: Sendable, Hashable {
    /// The store has not been read yet, so this is not known: show the splash screen.
    case unknown

    /// No user is signed in, for this reason.
    case signedOut(SignOutReason)

    /// A user is signed in. The session is that of one login.
    case signedIn(SessionID)
}
