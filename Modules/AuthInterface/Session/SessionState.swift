/// Whether there is a session.
public enum SessionState: Sendable, Hashable {
    /// The store has not been read yet, so this is not known: show the splash screen.
    case unknown

    /// There is no session, and why.
    case signedOut(SignOutReason)

    /// There is a session.
    case signedIn(SessionID)
}
