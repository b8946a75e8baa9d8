import Foundation

/// The generic passwords that a call matches, and what it returns of them.
struct KeychainQuery: Sendable, Hashable {
    /// How many of the items that match are returned.
    enum Limit: Sendable, Hashable {
        case one
        case all
    }

    let location: KeychainLocation

    /// Whether the data is returned. The attributes always are.
    var returnsData = false

    /// For searches only.
    var limit: Limit?
}

/// The content of an item that is added or updated.
struct KeychainValues: Sendable, Hashable {
    let data: Data

    /// When the item can be read. `nil`: as before, or the Keychain's default.
    let accessibility: KeychainAccessibility?
}

struct KeychainItem: Sendable, Hashable {
    let accessGroup: String?

    /// The data, if the query asked for it.
    let data: Data?
}
