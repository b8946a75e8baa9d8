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

    /// Refreshes the tokens now, whatever their expiry says: on a splash screen, or after the user's rights changed.
    ///
    /// It joins a refresh that is under way. With a shared store it takes over newer tokens of another process in place
    /// of a call of its own.
    ///
    /// - Returns: The state afterwards: `signedOut` when there is no session, or when the server rejected the refresh
    ///   token.
    /// - Throws: ``AuthenticationError`` with code `refreshUnavailable` or `storeUnavailable` when the refresh could not
    ///   be made now: the session stays. `noRefreshToken` when there is none. `CancellationError` at once when the task
    ///   is cancelled.
    @discardableResult
    func refresh() async throws -> SessionState

    /// Ends the session.
    ///
    /// In this process the session is over when the call is made, even if it throws. The tokens are then deleted from
    /// the store, and revoked at the server where a revocation handler was given. It never waits for a refresh, in this
    /// process or another one.
    ///
    /// - Parameter reason: Why: the user's wish, or a reason of the application.
    /// - Throws: ``AuthenticationError`` with code `storeUnavailable` when the tokens could not be deleted yet. The
    ///   deletion is tried again while the process lives.
    func signOut(reason: SignOutReason) async throws
}

extension AuthSession {
    /// Ends the session at the user's wish.
    ///
    /// - Throws: As ``signOut(reason:)``.
    public func signOut() async throws {
        try await signOut(reason: .byUser)
    }
}
