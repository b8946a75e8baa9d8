/// Revokes tokens at the server (RFC 7009, or a server's own logout call).
///
/// The engine calls it after a sign-out, and for tokens that arrive when their session has already ended. The
/// tokens are deleted first: a sign-out takes effect even when the server cannot be reached.
public protocol TokenRevocationHandler: Sendable {
    /// Revokes the tokens of a session.
    ///
    /// - Parameter tokens: The tokens. They may be revoked already, which is no error.
    /// - Throws: Any error when the tokens could not be revoked. The sign-out takes effect nevertheless.
    func revoke(_ tokens: TokenBundle) async throws

    /// Whether revoking a session's tokens leaves every other session of the same user valid (G9).
    ///
    /// Only then are old tokens revoked while another session is signed in. The default is `false`.
    var affectsRevokedSessionOnly: Bool { get }
}

extension TokenRevocationHandler {
    /// The server may end other sessions too.
    public var affectsRevokedSessionOnly: Bool { false }
}
