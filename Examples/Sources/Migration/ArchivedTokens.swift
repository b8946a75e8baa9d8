import AuthInterface
import Foundation

/// Auth0.swift and AppAuth keep an archive of `NSKeyedArchiver`. This class stands in for theirs, so that neither is
/// linked: it has the keys of `Credentials` (`A0Credentials` in Objective-C), of `OIDAuthState` and of its responses,
/// and decodes nothing but the tokens.
final class ArchivedTokens: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    let tokens: FormerTokens

    /// The access token of a state is that of the last token response; before there is one, that of the authorization
    /// response. What the libraries call `expiresIn` is an instant.
    init?(coder: NSCoder) {
        func object<Object: NSObject & NSSecureCoding>(_ key: String) -> Object? {
            coder.containsValue(forKey: key) ? coder.decodeObject(of: Object.self, forKey: key) : nil
        }
        func text(_ keys: String...) -> String? {
            keys.lazy.compactMap { object($0) as NSString? }.first as String?
        }
        let response: ArchivedTokens? = object("lastTokenResponse") ?? object("lastAuthorizationResponse")
        var tokens =
            response?.tokens
            ?? FormerTokens(
                accessToken: text("accessToken", "access_token"),
                expiresAt: (object("expiresIn") ?? object("expires_in") as NSDate?) as Date?,
                type: text("tokenType", "token_type"))
        tokens.refreshToken = text("refreshToken")
        if coder.decodeBool(forKey: "needsTokenRefresh") || coder.containsValue(forKey: "authorizationError") {
            tokens.expiresAt = .distantPast
        }
        self.tokens = tokens
    }

    /// Never called: it is only read.
    func encode(with coder: NSCoder) {}

    /// Reads an archive, whose objects have the classes of a library.
    static func read(_ item: Data, _ classes: String...) throws -> FormerTokens {
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: item)
        defer { unarchiver.finishDecoding() }
        #if canImport(Darwin)
        unarchiver.requiresSecureCoding = true
        #else
        // Foundation on Linux ends the process when the class of an object is another one than was asked for.
        unarchiver.requiresSecureCoding = false
        #endif
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        for name in classes { unarchiver.setClass(ArchivedTokens.self, forClassName: name) }
        let root = unarchiver.decodeObject(of: ArchivedTokens.self, forKey: NSKeyedArchiveRootObjectKey)
        if let error = unarchiver.error { throw error }
        guard let root else { throw TokenStoreError(.corrupt, reason: "it is an archive of something else") }
        return root.tokens
    }
}
