/// Keeps the tokens of one session across launches.
///
/// A store answers a read in three ways, and the third is what keeps users signed in (G14): a bundle; *none*, which
/// must be certain; or an error, which means that it cannot say now. A locked Keychain, an absent keyring and an
/// unreadable file are errors, never *none*.
///
/// Run the contract suite of `AuthTesting` against every implementation.
public protocol TokenStore: Sendable {
    /// Reads the stored bundle.
    ///
    /// - Returns: The bundle, or `nil` if it is certain that nothing is stored.
    /// - Throws: ``TokenStoreError`` in most cases. Whatever is thrown counts as *unavailable now*: nobody is signed
    ///   out and nothing is deleted because of it.
    func load() async throws -> TokenBundle?

    /// Stores a bundle in place of any that is there.
    ///
    /// A process killed at any instant leaves the old bundle or the new one, whole (G12).
    ///
    /// - Parameter bundle: The bundle to store.
    /// - Throws: ``TokenStoreError`` in most cases, with what was stored before still there.
    func save(_ bundle: TokenBundle) async throws

    /// Removes the stored bundle. It is no error if there is none.
    ///
    /// - Throws: ``TokenStoreError`` in most cases, with what was stored before still there.
    func delete() async throws
}

/// A store that several processes share, and that can be held across a refresh (G13).
public protocol SharedTokenStore: TokenStore {
    /// Waits until no other holder has the store, and takes it.
    ///
    /// A holder that dies lets go by dying.
    ///
    /// - Parameter limit: How long to wait at most.
    /// - Returns: The store as its holder uses it, until ``TokenStoreLease/release()``.
    /// - Throws: ``TokenStoreError`` with code `busy` when the limit passes first; `CancellationError` when the task is
    ///   cancelled while it waits.
    func lease(waitingAtMost limit: Duration) async throws -> any TokenStoreLease
}

/// A shared store in the hands of one holder.
public protocol TokenStoreLease: TokenStore {
    /// Lets the next holder have the store. A second call does nothing.
    func release() async
}
