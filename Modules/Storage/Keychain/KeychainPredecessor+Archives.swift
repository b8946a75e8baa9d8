import AuthInterface
import Foundation

// Two libraries keep an archive of `NSKeyedArchiver`. The classes below stand in for theirs: they have the same keys,
// and decode nothing but the tokens. What is not asked for, such as the request of a response, is never decoded.

extension KeychainPredecessor {
    /// The item in which `CredentialsManager` of Auth0.swift (versions 1 to 3) keeps an archive of its `Credentials`.
    ///
    /// By default its service is the bundle identifier and its account `credentials`. On a Mac it is in the file-based
    /// Keychain, unless the application asked for the other one. The tokens become a new session; the id token, the
    /// scope and the recovery code are not kept. Tokens of the type `DPoP` are bound to a key that this package does
    /// not have: their item is `corrupt`, and stays until a sign-in replaces it.
    ///
    /// - Parameter location: Its location.
    /// - Returns: The predecessor.
    public static func auth0Credentials(at location: KeychainLocation) -> KeychainPredecessor {
        .bundle(at: location) { data in
            try unarchive(Auth0Credentials.self, in: data, ["A0Credentials": Auth0Credentials.self]).tokens.bundle
        }
    }

    /// An item in which an application keeps an archive of an `OIDAuthState` of AppAuth for iOS and macOS.
    ///
    /// AppAuth stores nothing itself, so the location is the application's own. The tokens become a new session. Where
    /// the state holds an error of an earlier refresh, or asks for a refresh, the access token counts as expired: the
    /// next refresh decides. A state without tokens, or with tokens of the type `DPoP`, is `corrupt`.
    ///
    /// - Parameter location: Its location.
    /// - Returns: The predecessor.
    public static func appAuthState(at location: KeychainLocation) -> KeychainPredecessor {
        .bundle(at: location) { data in
            let classes: [String: AnyClass] = [
                "OIDAuthState": AppAuthState.self, "OIDTokenResponse": AppAuthResponse.self,
                "OIDAuthorizationResponse": AppAuthResponse.self,
            ]
            return try unarchive(AppAuthState.self, in: data, classes).tokens.bundle
        }
    }
}

/// Reads the root object of an archive, with the classes that stand in for those of a name.
private func unarchive<Root: NSObject & NSSecureCoding>(
    _ root: Root.Type, in data: Data, _ classes: [String: AnyClass]
) throws -> Root {
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
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

/// The tokens that an archive holds.
private struct ArchivedTokens {
    var accessToken: String?
    var refreshToken: String?
    var expiresAt: Date?
    var type: String?

    var bundle: TokenBundle {
        get throws {
            guard type?.lowercased() != "dpop" else {
                throw TokenStoreError(.corrupt, reason: "its tokens are bound to a key")
            }
            return try KeychainPredecessor.session(
                accessToken: accessToken, refreshToken: refreshToken, expiresAt: expiresAt)
        }
    }
}

/// `Credentials` of Auth0.swift, whose name for Objective-C is `A0Credentials`. Its `expiresIn` is an instant.
private final class Auth0Credentials: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    let tokens: ArchivedTokens

    init?(coder: NSCoder) {
        tokens = ArchivedTokens(
            accessToken: coder.text("accessToken"),
            refreshToken: coder.text("refreshToken"),
            expiresAt: coder.date("expiresIn"),
            type: coder.text("tokenType")
        )
    }

    /// Never called: it is only read.
    func encode(with coder: NSCoder) {}
}

/// `OIDAuthState` of AppAuth. The access token is that of the last token response; before there is one, that of the
/// authorization response.
private final class AppAuthState: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    let tokens: ArchivedTokens

    init?(coder: NSCoder) {
        let response =
            coder.decodeObject(of: AppAuthResponse.self, forKey: "lastTokenResponse")
            ?? coder.decodeObject(of: AppAuthResponse.self, forKey: "lastAuthorizationResponse")
        var tokens = response?.tokens ?? ArchivedTokens()
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
private final class AppAuthResponse: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    let tokens: ArchivedTokens

    init?(coder: NSCoder) {
        tokens = ArchivedTokens(
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
