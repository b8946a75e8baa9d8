/// Tells the server that tokens are no longer wanted (RFC 7009, or a server's own logout call).
///
/// The engine calls it after a sign-out, and for tokens that arrive when their session is already over. The engine
/// forgets the tokens first: a sign-out holds even when the server cannot be reached.
public protocol TokenRevocationHandler: Sendable {
    /// Revokes the tokens of a session.
    ///
    /// - Parameter tokens: The tokens that are no longer wanted. They may be revoked already, which is no error.
    /// - Throws: Any error when the server could not be told. The tokens are forgotten here all the same.
    func revoke(_ tokens: TokenBundle) async throws

    /// Whether revoking a session's tokens leaves every other session of the same user alone (G9).
    ///
    /// Only then are old tokens revoked while another session is signed in. The default is `false`.
    var affectsRevokedSessionOnly: Bool { get }
}

extension TokenRevocationHandler {
    /// The server is not known to leave other sessions alone.
    public var affectsRevokedSessionOnly: Bool { false }
}
