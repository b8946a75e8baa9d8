/// Tells the server that tokens are no longer wanted (RFC 7009, or a server's own logout call).
///
/// The engine calls it after a logout, and for tokens that arrive when their session is already over. It never waits
/// for it before it forgets the tokens: a logout holds even when the server cannot be reached.
public protocol TokenRevocationHandler: Sendable {
    /// Revokes the tokens of a session.
    ///
    /// - Parameter tokens: The tokens that are no longer wanted. They may be revoked already, which is no error.
    /// - Throws: Anything, when the server could not be told. The tokens are forgotten here all the same.
    func revoke(_ tokens: TokenBundle) async throws
}
