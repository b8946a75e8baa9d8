/// Makes, keeps and deletes the keys to which the tokens of sessions are bound (DPoP, RFC 9449).
///
/// A key is found by the thumbprint that the session's tokens name (``TokenBinding``), so a key that cannot be read
/// never keeps a user from signing in again: a sign-in makes another one.
public protocol SigningKeyStore: Sendable {
    /// Makes a key in memory: a process that is killed during a sign-in leaves none behind.
    ///
    /// - Throws: ``TokenStoreError`` in most cases.
    func makeKey() async throws -> any SigningKey

    /// Keeps a key that ``makeKey()`` has made, before tokens are bound to it: a process that is killed now finds it
    /// again.
    ///
    /// - Throws: ``TokenStoreError`` in most cases; the key is not kept then.
    func keep(_ key: any SigningKey) async throws

    /// Finds a key.
    ///
    /// - Parameter thumbprint: The thumbprint of its public half (RFC 7638).
    /// - Returns: The key, or `nil` if it is certain that it no longer exists: the session that needs it has ended.
    /// - Throws: ``TokenStoreError`` in most cases. Any error counts as *unavailable now*, as for a `TokenStore` (G14).
    func key(withThumbprint thumbprint: String) async throws -> (any SigningKey)?

    /// Deletes a key. One that does not exist is no error.
    ///
    /// - Throws: ``TokenStoreError`` in most cases; the key is then kept.
    func deleteKey(withThumbprint thumbprint: String) async throws
}

/// Deletes the key to which the tokens of an ended session were bound.
///
/// The engine calls it where its refresh handler conforms, after a sign-out, an ending, and a sign-in that replaces the
/// session. What fails leaves a key that no token needs.
public protocol TokenBindingHandler: Sendable {
    /// Deletes a key. It may be deleted already, which is no error.
    ///
    /// - Throws: Any error when the key could not be deleted.
    func release(_ binding: TokenBinding) async throws
}
