import AuthInterface

/// What the Keychain answered: a value of `OSStatus`, under the name `SecBase.h` has for it.
///
/// It is the `cause` of the errors of a ``KeychainTokenStore``. Values without a name
/// here mean the same to the store as those with one: it cannot say now.
public struct KeychainStatus: Error, Sendable, Hashable, RawRepresentable {
    /// The value.
    public let rawValue: Int32

    /// Takes a value.
    ///
    /// - Parameter rawValue: The value.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// It is done: `errSecSuccess`, 0.
    public static let success = KeychainStatus(rawValue: 0)

    /// The disk failed: `errSecIO`, -36.
    public static let ioFailed = KeychainStatus(rawValue: -36)

    /// The question makes no sense to the Keychain: `errSecParam`, -50.
    public static let invalidParameter = KeychainStatus(rawValue: -50)

    /// The user was asked, and refused: `errSecUserCanceled`, -128.
    public static let userCancelled = KeychainStatus(rawValue: -128)

    /// There is no Keychain, or its service is not there: `errSecNotAvailable`, -25291.
    public static let notAvailable = KeychainStatus(rawValue: -25291)

    /// A password was wrong, or access was denied: `errSecAuthFailed`, -25293.
    public static let authenticationFailed = KeychainStatus(rawValue: -25293)

    /// An item with the same primary key is there: `errSecDuplicateItem`, -25299.
    public static let duplicateItem = KeychainStatus(rawValue: -25299)

    /// Nothing matches: `errSecItemNotFound`, -25300.
    public static let itemNotFound = KeychainStatus(rawValue: -25300)

    /// The item is locked until the device is unlocked: `errSecInteractionNotAllowed`, -25308.
    public static let interactionNotAllowed = KeychainStatus(rawValue: -25308)

    /// The item is locked, and the user cannot be asked: `errSecInteractionRequired`, -25315.
    public static let interactionRequired = KeychainStatus(rawValue: -25315)

    /// The Mac has woken for a moment, with its screen dark: `errSecInDarkWake`, -25320.
    public static let inDarkWake = KeychainStatus(rawValue: -25320)

    /// The item is damaged, or its key is missing: `errSecDecode`, -26275.
    public static let decodingFailed = KeychainStatus(rawValue: -26275)

    /// The program is not entitled to the Keychain or the access group: `errSecMissingEntitlement`, -34018.
    public static let missingEntitlement = KeychainStatus(rawValue: -34018)
}

extension KeychainStatus: CustomStringConvertible {
    /// The name and the number.
    public var description: String { knowledge.map { "\($0.name) (\(rawValue))" } ?? "OSStatus \(rawValue)" }

    /// What to make of it, in a few words.
    fileprivate var meaning: String { knowledge?.meaning ?? "the Keychain cannot be used now" }

    private var knowledge: (name: String, meaning: String)? {
        switch self {
        case .success: ("errSecSuccess", "it is done")
        case .ioFailed: ("errSecIO", "the disk failed")
        case .invalidParameter: ("errSecParam", "the Keychain does not take the service, account or access group")
        case .userCancelled: ("errSecUserCanceled", "access was asked for and refused")
        case .notAvailable: ("errSecNotAvailable", "no Keychain is available")
        case .authenticationFailed: ("errSecAuthFailed", "access was denied")
        case .duplicateItem: ("errSecDuplicateItem", "an item that no search finds is in its place")
        case .itemNotFound: ("errSecItemNotFound", "there is no such item")
        case .interactionNotAllowed: ("errSecInteractionNotAllowed", "it is locked until the device is unlocked")
        case .interactionRequired: ("errSecInteractionRequired", "it is locked, and the user cannot be asked")
        case .inDarkWake: ("errSecInDarkWake", "it is locked until the Mac wakes")
        case .decodingFailed: ("errSecDecode", "the Keychain cannot decrypt it")
        case .missingEntitlement:
            ("errSecMissingEntitlement", "sign the program with an entitlement to the Keychain and the access group")
        default: nil
        }
    }
}

extension TokenStoreError {
    /// What a status means to a session: the store cannot say now, whichever it is (G14).
    ///
    /// `errSecItemNotFound` and `errSecDuplicateItem` are results and not errors where they are expected; here they
    /// come from where they are not.
    ///
    /// - Parameters:
    ///   - status: What the Keychain answered.
    ///   - attempt: What was tried, as in "could not … the Keychain item PLACE".
    ///   - location: The item.
    /// - Returns: The error, with code `unavailable`.
    static func keychain(_ status: KeychainStatus, _ attempt: String, _ location: KeychainLocation) -> TokenStoreError {
        TokenStoreError(
            .unavailable,
            reason: "could not \(attempt) the Keychain item \(location): \(status.meaning), \(status)",
            cause: status
        )
    }

    /// "Not found" from a Keychain that may not have been opened yet.
    static func notCertain(_ location: KeychainLocation) -> TokenStoreError {
        TokenStoreError(
            .unavailable,
            reason:
                "the Keychain item \(location) was not found, but protected data is not available, so that it may be "
                + "there; try again when the device is unlocked",
            cause: KeychainStatus.itemNotFound
        )
    }
}
