import AuthInterface

/// A result of the Keychain: a value of `OSStatus`, named as in `SecBase.h`.
///
/// It is the `cause` of the errors of a ``KeychainTokenStore``. Values without a name here are *unavailable* to the
/// store, as the others are.
public struct KeychainStatus: Error, Sendable, Hashable, RawRepresentable {
    /// The value.
    public let rawValue: Int32

    /// Creates a status.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    // `details` has the names and the meanings.
    static let success = KeychainStatus(rawValue: 0)
    static let ioFailed = KeychainStatus(rawValue: -36)
    static let invalidParameter = KeychainStatus(rawValue: -50)
    static let userCancelled = KeychainStatus(rawValue: -128)
    static let notAvailable = KeychainStatus(rawValue: -25291)
    static let authenticationFailed = KeychainStatus(rawValue: -25293)
    static let duplicateItem = KeychainStatus(rawValue: -25299)
    static let itemNotFound = KeychainStatus(rawValue: -25300)
    static let interactionNotAllowed = KeychainStatus(rawValue: -25308)
    static let interactionRequired = KeychainStatus(rawValue: -25315)
    static let inDarkWake = KeychainStatus(rawValue: -25320)
    static let decodingFailed = KeychainStatus(rawValue: -26275)
    static let missingEntitlement = KeychainStatus(rawValue: -34018)
}

extension KeychainStatus: CustomStringConvertible {
    /// The name and the number.
    public var description: String { details.map { "\($0.name) (\(rawValue))" } ?? "OSStatus \(rawValue)" }

    /// An explanation for error texts.
    fileprivate var meaning: String { details?.meaning ?? "the Keychain cannot be used now" }

    private var details: (name: String, meaning: String)? {
        switch self {
        case .success: ("errSecSuccess", "success")
        case .ioFailed: ("errSecIO", "the disk failed")
        case .invalidParameter: ("errSecParam", "the Keychain does not accept the service, account or access group")
        case .userCancelled: ("errSecUserCanceled", "the user refused access")
        case .notAvailable: ("errSecNotAvailable", "no Keychain is available")
        case .authenticationFailed: ("errSecAuthFailed", "access was denied")
        case .duplicateItem: ("errSecDuplicateItem", "the item exists, and no search finds it")
        case .itemNotFound: ("errSecItemNotFound", "the item does not exist")
        case .interactionNotAllowed: ("errSecInteractionNotAllowed", "it is locked until the device is unlocked")
        case .interactionRequired:
            ("errSecInteractionRequired", "it is locked, and the user cannot be asked to unlock it")
        case .inDarkWake: ("errSecInDarkWake", "it is locked until the Mac wakes")
        case .decodingFailed: ("errSecDecode", "the Keychain cannot decrypt it")
        case .missingEntitlement:
            ("errSecMissingEntitlement", "sign the program with an entitlement to the Keychain and the access group")
        default: nil
        }
    }
}

extension TokenStoreError {
    /// The error for a status of the Keychain: every status is *unavailable* (G14). `errSecItemNotFound` and
    /// `errSecDuplicateItem` are errors where they are not expected: "could not ATTEMPT the Keychain item LOCATION".
    static func keychain(_ status: KeychainStatus, _ attempt: String, _ location: KeychainLocation) -> TokenStoreError {
        TokenStoreError(
            .unavailable, reason: "could not \(attempt) the Keychain item \(location): \(status.meaning), \(status)",
            cause: status)
    }

    /// "Not found" while protected data may not be available.
    static func notCertain(_ location: KeychainLocation) -> TokenStoreError {
        TokenStoreError(
            .unavailable,
            reason:
                "the Keychain item \(location) was not found, but may be stored, because protected data is not available; "
                + "try again when the device is unlocked",
            cause: KeychainStatus.itemNotFound)
    }
}
