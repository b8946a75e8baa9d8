#if canImport(Security)
import Foundation
import Security

/// The Keychain of the system. It converts arguments and results, and decides nothing.
struct SecItemKeychain: KeychainItems {
    #if os(macOS)
    let hasFileBasedKeychain = true
    #else
    let hasFileBasedKeychain = false
    #endif

    func copyMatching(_ query: KeychainQuery) throws(KeychainStatus) -> [KeychainItem] {
        var result: CFTypeRef?
        let dictionary = query.dictionary.merging([kSecReturnAttributes as String: true]) { $1 }
        try check(SecItemCopyMatching(dictionary as CFDictionary, &result))
        let found = result as? [[String: Any]] ?? (result as? [String: Any]).map { [$0] } ?? []
        return found.map { item in
            KeychainItem(
                accessGroup: item[kSecAttrAccessGroup as String] as? String,
                data: item[kSecValueData as String] as? Data)
        }
    }

    func add(_ query: KeychainQuery, _ values: KeychainValues) throws(KeychainStatus) {
        let dictionary = query.dictionary.merging(values.dictionary) { $1 }
        try check(SecItemAdd(dictionary as CFDictionary, nil))
    }

    func update(_ query: KeychainQuery, to values: KeychainValues) throws(KeychainStatus) {
        try check(SecItemUpdate(query.dictionary as CFDictionary, values.dictionary as CFDictionary))
    }

    func delete(_ query: KeychainQuery) throws(KeychainStatus) {
        try check(SecItemDelete(query.dictionary as CFDictionary))
    }

    private func check(_ status: OSStatus) throws(KeychainStatus) {
        guard status == errSecSuccess else { throw KeychainStatus(rawValue: status) }
    }
}

extension KeychainQuery {
    fileprivate var dictionary: [String: Any] {
        var dictionary: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: location.service,
            kSecAttrAccount as String: location.account,
        ]
        dictionary[kSecAttrAccessGroup as String] = location.accessGroup
        if location.keychain == .dataProtection { dictionary[kSecUseDataProtectionKeychain as String] = true }
        if returnsData { dictionary[kSecReturnData as String] = true }
        switch limit {
        case .one: dictionary[kSecMatchLimit as String] = kSecMatchLimitOne
        case .all: dictionary[kSecMatchLimit as String] = kSecMatchLimitAll
        case nil: break
        }
        return dictionary
    }
}

extension KeychainValues {
    fileprivate var dictionary: [String: Any] {
        var dictionary: [String: Any] = [kSecValueData as String: data]
        dictionary[kSecAttrAccessible as String] = accessibility?.attribute
        return dictionary
    }
}

extension KeychainAccessibility {
    fileprivate var attribute: CFString {
        switch self {
        case .afterFirstUnlockThisDeviceOnly: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        case .whenUnlockedThisDeviceOnly: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
        }
    }
}
#endif
