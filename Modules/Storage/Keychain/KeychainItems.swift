/// The four calls of the Keychain, so that the rules of a store can be tested on every system.
///
/// The calls block. Items that iCloud synchronizes are never found or changed.
protocol KeychainItems: Sendable {
    /// Whether there is also a file-based Keychain, as on a Mac.
    var hasFileBasedKeychain: Bool { get }

    /// Finds items (`SecItemCopyMatching`). Returns the items, at least one.
    ///
    /// - Throws: The status, `itemNotFound` if there are none.
    func copyMatching(_ query: KeychainQuery) throws(KeychainStatus) -> [KeychainItem]

    /// Adds an item (`SecItemAdd`).
    ///
    /// - Throws: The status, `duplicateItem` if there is one.
    func add(_ query: KeychainQuery, _ values: KeychainValues) throws(KeychainStatus)

    /// Changes all items that match (`SecItemUpdate`).
    ///
    /// - Throws: The status, `itemNotFound` if there are none.
    func update(_ query: KeychainQuery, to values: KeychainValues) throws(KeychainStatus)

    /// Removes all items that match (`SecItemDelete`).
    ///
    /// - Throws: The status, `itemNotFound` if there are none.
    func delete(_ query: KeychainQuery) throws(KeychainStatus)
}
