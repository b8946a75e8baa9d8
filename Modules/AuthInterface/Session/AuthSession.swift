/// One user's session with one server: sign in, sign out, and what became of it.
public protocol AuthSession: Sendable {
    /// What is known of the session now.
    var state: SessionState { get }

    /// The states from now on, the current one first. Each call makes a stream of its own.
    ///
    /// However many requests a dead session fails, a stream sees its end once (G5). It ends with the task that reads
    /// it, or with the session object.
    var states: AsyncStream<SessionState> { get }

    /// Reads the stored session, if that has not happened yet.
    ///
    /// - Returns: The state once the store has answered.
    /// - Throws: ``AuthenticationError`` with code `storeUnavailable` when the store cannot answer now; the state
    ///   stays `unknown` and a later call asks again. `CancellationError` at once when the task is cancelled.
    func restore() async throws -> SessionState

    /// Begins a session with the tokens a login returned, in place of whatever session there was.
    ///
    /// The tokens are stored before the call returns. If the store fails, the user is signed in all the same and the
    /// tokens are stored as soon as the store answers (G11).
    ///
    /// - Parameter tokens: What the server issued.
    /// - Throws: ``AuthenticationError`` with code `invalidTokens` when the access token cannot be used in a request;
    ///   the session there was is left alone.
    func signIn(_ tokens: TokenRefreshResult) async throws

    /// Ends the session at the user's wish.
    ///
    /// In this process the session is over when the call is made, whatever it throws. The tokens are then deleted
    /// from the store, and revoked at the server where a revocation handler was given.
    ///
    /// - Throws: ``AuthenticationError`` with code `storeUnavailable` when the tokens could not be deleted yet. The
    ///   deletion is tried again while the process lives.
    func signOut() async throws
}
