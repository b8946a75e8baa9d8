/// The location of an item: a generic password in a Keychain, by its service and account.
public struct KeychainLocation: Sendable, Hashable {
    /// The Keychains of a Mac. Every other device has the first only, and both cases mean that one.
    public enum Keychain: Sendable, Hashable {
        /// The Keychain with access groups and accessibility, as on iOS. On a Mac, only a program that is signed with a
        /// provisioning profile may use it.
        case dataProtection

        /// The older Keychain of a Mac, for programs that are not signed with a provisioning profile, such as
        /// command-line tools. It asks the user for a password when another program, or another build of the same one,
        /// reads the item, and has neither access groups nor accessibility.
        case fileBased
    }

    /// The service: one name for all items of a program, such as `org.example.articles`.
    public let service: String

    /// The account in this service.
    public let account: String

    /// The access group, for items that programs of one team share. Always `nil` in the file-based Keychain.
    ///
    /// With `nil` the Keychain adds an item to the first group of the program's entitlements, but *searches all* of
    /// them. So name the group if there are several.
    public let accessGroup: String?

    /// The Keychain.
    public let keychain: Keychain

    /// Creates a location. The file-based Keychain ignores the access group.
    public init(
        service: String, account: String = "default", accessGroup: String? = nil, keychain: Keychain = .dataProtection
    ) {
        self.service = service
        self.account = account
        self.accessGroup = keychain == .fileBased ? nil : accessGroup
        self.keychain = keychain
    }

    /// Whether a search for this location finds all items of another.
    func covers(_ other: KeychainLocation) -> Bool {
        service == other.service && account == other.account && keychain == other.keychain
            && (accessGroup == nil || accessGroup == other.accessGroup)
    }

    /// The same location in one of the program's access groups.
    func inGroup(_ group: String?) -> KeychainLocation {
        KeychainLocation(service: service, account: account, accessGroup: group, keychain: keychain)
    }

    /// The same location on a system that has one Keychain only.
    var inTheOnlyKeychain: KeychainLocation {
        KeychainLocation(service: service, account: account, accessGroup: accessGroup)
    }
}

extension KeychainLocation: CustomStringConvertible {
    /// The service, the account, and the access group if there is one. None of them is a secret.
    public var description: String { "\(service)/\(account)" + (accessGroup.map { " in \($0)" } ?? "") }
}

/// When a stored item can be read.
///
/// In both cases a backup does not restore it on another device: a refresh token that two devices use ends the session
/// on both, if the server rotates tokens.
public enum KeychainAccessibility: Sendable, Hashable {
    /// From the first unlock after a start of the device, so that background tasks can refresh:
    /// `kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly`.
    case afterFirstUnlockThisDeviceOnly

    /// While the device is unlocked: `kSecAttrAccessibleWhenUnlockedThisDeviceOnly`. Background tasks on a locked
    /// device can neither load nor save.
    case whenUnlockedThisDeviceOnly
}
