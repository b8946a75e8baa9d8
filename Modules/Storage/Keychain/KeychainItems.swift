import Foundation

/// The four calls of the Keychain: the seam between the rules, which are tested on every system, and Apple's.
///
/// The calls block, for another process answers them. Items that iCloud synchronises are never meant.
protocol KeychainItems: Sendable {
    /// Whether there is a file-based Keychain besides the other one: on a Mac.
    var hasFileBasedKeychain: Bool { get }

    /// Finds items (`SecItemCopyMatching`).
    ///
    /// - Returns: The items; never none.
    /// - Throws: The status, `itemNotFound` if there are none.
    func copyMatching(_ query: KeychainQuery) throws(KeychainStatus) -> [KeychainItem]

    /// Makes an item (`SecItemAdd`).
    ///
    /// - Throws: The status, `duplicateItem` if there is one.
    func add(_ query: KeychainQuery, _ values: KeychainValues) throws(KeychainStatus)

    /// Changes all items that match, at once (`SecItemUpdate`).
    ///
    /// - Throws: The status, `itemNotFound` if there are none.
    func update(_ query: KeychainQuery, to values: KeychainValues) throws(KeychainStatus)

    /// Removes all items that match (`SecItemDelete`).
    ///
    /// - Throws: The status, `itemNotFound` if there are none.
    func delete(_ query: KeychainQuery) throws(KeychainStatus)
}

/// Which generic passwords are meant, and what of them is wanted.
struct KeychainQuery: Sendable, Hashable {
    /// How many of the items that match are wanted.
    enum Limit: Sendable, Hashable {
        case one
        case all
    }

    let location: KeychainLocation

    /// Whether the data is wanted. The attributes always are.
    var returnsData = false

    /// Only a search may have one.
    var limit: Limit?
}

/// What is put into an item.
struct KeychainValues: Sendable, Hashable {
    let data: Data

    /// When the item can be read. `nil`: as the Keychain has it.
    let accessibility: KeychainAccessibility?
}

/// What was found.
struct KeychainItem: Sendable, Hashable {
    let accessGroup: String?

    /// The data, where it was wanted.
    let data: Data?
}

/// When a stored item can be read.
///
/// Either way it stays on its device, in backups too: a copy of a refresh token that comes to life on a second device
/// is a token used twice, for which a server that rotates ends the session on both.
public enum KeychainAccessibility: Sendable, Hashable {
    /// From the first unlock after a start of the device, so that what runs in the background can refresh:
    /// `kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly`.
    case afterFirstUnlockThisDeviceOnly

    /// While the device is unlocked: `kSecAttrAccessibleWhenUnlockedThisDeviceOnly`. Nothing that runs in the
    /// background can load or save then.
    case whenUnlockedThisDeviceOnly
}
