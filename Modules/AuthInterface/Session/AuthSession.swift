/// One user's session with one server: signs in, signs out, and reports the state.
public protocol AuthSession: Sendable {
    /// The current state.
    var state: SessionState { get }

    /// The states from now on, the current one first. Each access returns a new stream.
    ///
    /// A stream reports the end of a session once, however many requests fail because of it (G5). It ends with the
    /// task that reads it, or with the session object.
    var states: AsyncStream<SessionState> { get }

    /// Reads the stored session: once, or each time where other processes share the store.
    ///
    /// - Returns: The state once the store has been read.
    /// - Throws: ``AuthenticationError`` with code `storeUnavailable` when the store cannot be read now; the
    ///   state stays `unknown` and a later call reads again. `CancellationError` at once when the task is cancelled.
    func restore() async throws -> SessionState

    /// Starts a session with the tokens that a login returned. It replaces any other session, whose tokens are revoked
    /// if there is a ``TokenRevocationHandler`` that can revoke them alone (G9).
    ///
    /// The tokens are stored before the call returns. If the store fails, the user is signed in nevertheless and
    /// the tokens are stored as soon as the store works again (G11).
    ///
    /// - Throws: ``AuthenticationError`` with code `invalidTokens` when the access token cannot be used in a request;
    ///   the earlier session is kept.
    func signIn(_ tokens: TokenRefreshResult) async throws

    /// Takes the tokens of a sign-in that the server has demanded of a user who is signed in: with a stronger method,
    /// more recently, or with more rights (RFC 9470). See `NetworkError.stepUp` of `NetworkCore`.
    ///
    /// Where the session and the tokens are known to have the same ``TokenRefreshResult/subject``, the session goes on
    /// with the new tokens: it keeps its identity, and requests that wait continue (G32). Otherwise this is
    /// ``signIn(_:)``. The response must have a refresh token: most servers want to be asked for one again, such as by
    /// the scope `offline_access`.
    ///
    /// The tokens before them are not revoked: a server may count both as one session, and would end it.
    ///
    /// The default signs in.
    ///
    /// - Throws: As ``signIn(_:)``. `invalidTokens` also without a refresh token: the session goes on as it was.
    ///   `storeUnavailable` while the session is not known, as the store cannot be read: pass the tokens again.
    func stepUp(_ tokens: TokenRefreshResult) async throws

    /// Refreshes the tokens now, expired or not: on a splash screen, or after the user's rights changed.
    ///
    /// It joins a refresh that is under way. With a shared store it adopts newer tokens of another process instead of
    /// calling the server.
    ///
    /// - Returns: The state afterwards: `signedOut` when there is no session, or when the server rejected the refresh
    ///   token.
    /// - Throws: ``AuthenticationError`` with code `refreshUnavailable` or `storeUnavailable` when the refresh is not
    ///   possible now; the session is kept. `noRefreshToken` without a refresh token. `CancellationError` at once when
    ///   the task is cancelled.
    @discardableResult
    func refresh() async throws -> SessionState

    /// Ends the session.
    ///
    /// In this process the session ends with the call, even if it throws. The tokens are then deleted from
    /// the store, and revoked at the server where a revocation handler was given. It never waits for a refresh, in this
    /// process or another one.
    ///
    /// - Throws: ``AuthenticationError`` with code `storeUnavailable` when the tokens could not be deleted yet. The
    ///   deletion is tried again while the process lives.
    func signOut(reason: SignOutReason) async throws
}

extension AuthSession {
    /// Signs in.
    ///
    /// - Throws: As ``signIn(_:)``.
    public func stepUp(_ tokens: TokenRefreshResult) async throws { try await signIn(tokens) }

    /// Ends the session because the user signed out.
    ///
    /// - Throws: As ``signOut(reason:)``.
    public func signOut() async throws { try await signOut(reason: .byUser) }
}
