import AuthInterface
import Foundation

// Auth0.swift and AppAuth keep an archive of `NSKeyedArchiver`. The classes below stand in for theirs, so that neither
// library is linked: they have the same keys, and decode nothing but the tokens.

extension NSKeyedUnarchiver {
    /// Reads the root object of an archive, with the classes that stand in for those of a name.
    static func root<Root: NSObject & NSSecureCoding>(
        _ root: Root.Type, of item: Data, _ classes: [String: AnyClass]
    ) throws -> Root {
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: item)
        defer { unarchiver.finishDecoding() }
        #if canImport(Darwin)
        unarchiver.requiresSecureCoding = true
        #else
        // Foundation on Linux ends the process when the class of an object is another one than was asked for.
        unarchiver.requiresSecureCoding = false
        #endif
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        for (name, standIn): (String, AnyClass) in classes { unarchiver.setClass(standIn, forClassName: name) }
        let object = unarchiver.decodeObject(of: root, forKey: NSKeyedArchiveRootObjectKey)
        if let error = unarchiver.error { throw error }
        guard let object else { throw TokenStoreError(.corrupt, reason: "it is an archive of something else") }
        return object
    }
}

/// `Credentials` of Auth0.swift, whose name for Objective-C is `A0Credentials`. Its `expiresIn` is an instant.
final class ArchivedCredentials: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    let tokens: FormerTokens

    init?(coder: NSCoder) {
        tokens = FormerTokens(
            accessToken: coder.text("accessToken"), refreshToken: coder.text("refreshToken"),
            expiresAt: coder.date("expiresIn"), type: coder.text("tokenType"))
    }

    /// Never called: it is only read.
    func encode(with coder: NSCoder) {}
}

/// `OIDAuthState` of AppAuth. The access token is that of the last token response; before there is one, that of the
/// authorization response.
final class ArchivedState: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    let tokens: FormerTokens

    init?(coder: NSCoder) {
        let response =
            coder.decodeObject(of: ArchivedResponse.self, forKey: "lastTokenResponse")
            ?? coder.decodeObject(of: ArchivedResponse.self, forKey: "lastAuthorizationResponse")
        var tokens = response?.tokens ?? FormerTokens()
        tokens.refreshToken = coder.text("refreshToken")
        if coder.decodeBool(forKey: "needsTokenRefresh") || coder.containsValue(forKey: "authorizationError") {
            tokens.expiresAt = .distantPast
        }
        self.tokens = tokens
    }

    /// Never called: it is only read.
    func encode(with coder: NSCoder) {}
}

/// `OIDTokenResponse` and `OIDAuthorizationResponse` of AppAuth. Their `expires_in` is an instant.
final class ArchivedResponse: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    let tokens: FormerTokens

    init?(coder: NSCoder) {
        tokens = FormerTokens(
            accessToken: coder.text("access_token"), expiresAt: coder.date("expires_in"), type: coder.text("token_type")
        )
    }

    /// Never called: it is only read.
    func encode(with coder: NSCoder) {}
}

extension NSCoder {
    fileprivate func text(_ key: String) -> String? { decodeObject(of: NSString.self, forKey: key) as String? }

    fileprivate func date(_ key: String) -> Date? { decodeObject(of: NSDate.self, forKey: key) as Date? }
}
