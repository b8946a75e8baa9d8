public import AuthInterface
public import NetworkCore

/// The result of ``AuthService/autoLogin()``: the screen to show.
public enum AutoLogin: Sendable {
    /// The server has accepted the session: show the main screen.
    case signedIn(User)

    /// There is a session, and the request to the server failed: show the main screen, and the error.
    case unverified(NetworkError)

    /// There is no session: show the login screen.
    case login(SignOutReason)
}
