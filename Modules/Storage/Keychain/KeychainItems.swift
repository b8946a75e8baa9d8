/// The four calls of the Keychain, so that the rules of a store can be tested on every system. They throw the status.
///
/// The calls block. Items that iCloud synchronizes are never found or changed.
protocol KeychainItems: Sendable {
    /// Whether there is also a file-based Keychain, as on a Mac.
    var hasFileBasedKeychain: Bool { get }

    /// Finds items, at least one, or throws `itemNotFound` (`SecItemCopyMatching`).
    func copyMatching(_ query: KeychainQuery) throws(KeychainStatus) -> [KeychainItem]

    /// Adds an item, or throws `duplicateItem` (`SecItemAdd`).
    func add(_ query: KeychainQuery, _ values: KeychainValues) throws(KeychainStatus)

    /// Changes all items that match, or throws `itemNotFound` (`SecItemUpdate`).
    func update(_ query: KeychainQuery, to values: KeychainValues) throws(KeychainStatus)

    /// Removes all items that match, or throws `itemNotFound` (`SecItemDelete`).
    func delete(_ query: KeychainQuery) throws(KeychainStatus)
}
