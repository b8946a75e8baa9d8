// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Foundation

// As much of Apple's Security framework as Modules/Storage/Keychain calls, so that its Apple-only files can be
// typechecked where there is no Apple SDK. It does nothing, is part of no product, and shows only that the framework
// was read the same way twice.
//
// The types of Core Foundation are those that Swift bridges them to. What the names mean is documented by Apple.

public typealias OSStatus = Int32
public typealias CFString = String
public typealias CFDictionary = [String: Any]
public typealias CFTypeRef = AnyObject

public let errSecSuccess: OSStatus = 0
private let unimplemented: OSStatus = -4

public let kSecClass: CFString = "class"
public let kSecClassGenericPassword: CFString = "genp"
public let kSecAttrService: CFString = "svce"
public let kSecAttrAccount: CFString = "acct"
public let kSecAttrAccessGroup: CFString = "agrp"
public let kSecAttrAccessible: CFString = "pdmn"
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
public let kSecUseDataProtectionKeychain: CFString = "nleg"
public let kSecReturnAttributes: CFString = "r_Attributes"
public let kSecReturnData: CFString = "r_Data"
public let kSecValueData: CFString = "v_Data"
public let kSecMatchLimit: CFString = "m_Limit"
public let kSecMatchLimitOne: CFString = "m_LimitOne"
public let kSecMatchLimitAll: CFString = "m_LimitAll"

public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    unimplemented
}

public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    unimplemented
}

public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    unimplemented
}

public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    unimplemented
}
