/// Keeps the tokens of one session across launches.
///
/// A read has three results (G14): a bundle; *none*, which must be certain; or an error, which means that the content
/// is not known now and which signs no user out. A locked Keychain, an absent keyring, an unreadable file and a disk
/// that is not mounted are errors, never *none*.
///
/// A store that only one process uses needs these three calls. A store that several processes share conforms to
/// ``SharedTokenStore``. Run the contract suite of `AuthTesting` against every implementation.
public protocol TokenStore: Sendable {
    /// Reads the stored bundle.
    ///
    /// - Returns: The bundle, or `nil` if it is certain that none is stored.
    /// - Throws: ``TokenStoreError`` in most cases. Any error counts as *unavailable now*: it signs no user out and
    ///   deletes nothing.
    func load() async throws -> TokenBundle?

    /// Stores a bundle. It replaces the stored one.
    ///
    /// A process killed at any instant leaves the old bundle or the new one, whole (G12).
    ///
    /// - Throws: ``TokenStoreError`` in most cases, with what was stored before still there.
    func save(_ bundle: TokenBundle) async throws

    /// Removes the stored bundle. It is no error if there is none.
    ///
    /// - Throws: ``TokenStoreError`` in most cases, with what was stored before still there.
    func delete() async throws
}
