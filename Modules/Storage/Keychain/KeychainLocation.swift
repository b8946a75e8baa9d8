/// Where an item is: a generic password in one of the Keychains, by its service and account.
public struct KeychainLocation: Sendable, Hashable {
    /// The Keychains of a Mac. Every other device has the first only, and both words mean it there.
    public enum Keychain: Sendable, Hashable {
        /// The one with access groups and accessibility, as on iOS. On a Mac, only a signed program with a
        /// provisioning profile may use it.
        case dataProtection

        /// The older one of a Mac, for programs that are not signed with a provisioning profile, such as command-line
        /// tools. It asks its user for a password when another program, or another build of the same one, reads the
        /// item, and has neither access groups nor accessibility.
        case fileBased
    }

    /// The service: one name for everything a program stores, such as `org.example.articles`.
    public let service: String

    /// Tells the accounts of a service apart.
    public let account: String

    /// The access group, for items that programs of one team share. `nil`: the program's own, which is the first it is
    /// entitled to. Always `nil` in the file-based Keychain.
    ///
    /// The Keychain adds to the program's own group then, but *searches all* it is entitled to. So name the group as
    /// soon as there are several.
    public let accessGroup: String?

    /// The Keychain.
    public let keychain: Keychain

    /// Names a place.
    ///
    /// - Parameters:
    ///   - service: The service, such as `org.example.articles`.
    ///   - account: Tells the accounts of a service apart. Any text will do.
    ///   - accessGroup: The access group, or `nil` for the program's own. The file-based Keychain has none.
    ///   - keychain: The Keychain, where there are two.
    public init(
        service: String,
        account: String = "default",
        accessGroup: String? = nil,
        keychain: Keychain = .dataProtection
    ) {
        self.service = service
        self.account = account
        self.accessGroup = keychain == .fileBased ? nil : accessGroup
        self.keychain = keychain
    }

    /// Whether a search for this place finds everything that is at another.
    func covers(_ other: KeychainLocation) -> Bool {
        service == other.service && account == other.account && keychain == other.keychain
            && (accessGroup == nil || accessGroup == other.accessGroup)
    }

    /// The same place in one of the program's access groups.
    func inGroup(_ group: String?) -> KeychainLocation {
        KeychainLocation(service: service, account: account, accessGroup: group, keychain: keychain)
    }

    /// The place as it is called where there is one Keychain only.
    var inTheOnlyKeychain: KeychainLocation {
        KeychainLocation(service: service, account: account, accessGroup: accessGroup)
    }
}

extension KeychainLocation: CustomStringConvertible {
    /// The service, the account, and the access group if there is one. None of them is a secret.
    public var description: String { "\(service)/\(account)" + (accessGroup.map { " in \($0)" } ?? "") }
}
