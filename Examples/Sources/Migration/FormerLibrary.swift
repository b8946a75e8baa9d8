public import AuthInterface
public import Foundation
public import Storage

/// The library that kept the tokens of an application in the Keychain until now. Its users stay signed in:
///
/// ```swift
/// let old = FormerLibrary.auth0.predecessor(
///     at: KeychainLocation(service: "org.example.articles", account: "credentials"))
/// let store = KeychainTokenStore(at: location, predecessors: [old], isProtectedDataAvailable: …)
/// ```
///
/// Copy the case that you need. The first read of the store moves the tokens. They become a new session, so the library
/// must not refresh them any more. An item without tokens, or with tokens that are bound to a key (DPoP), is `corrupt`,
/// and stays until a sign-in replaces it.
public enum FormerLibrary: Sendable {
    /// Auth0.swift 1 to 3: the archive of `Credentials` that its `CredentialsManager` keeps.
    ///
    /// By default its service is the bundle identifier and its account `credentials`. On a Mac it is in the file-based
    /// Keychain, unless the application asked for the other one.
    case auth0

    /// supabase-swift 2, and 3 as it is developed: the `Session` as JSON.
    ///
    /// Version 2 uses the service `supabase.gotrue.swift`, version 3 the bundle identifier. The account is
    /// `sb-PROJECT-auth-token` for a `SupabaseClient` (PROJECT is the first label of the host), and
    /// `supabase.auth.token` for an `AuthClient` alone, unless a `storageKey` was set; `supabase.session` before that.
    /// On a Mac it is in the file-based Keychain by default.
    case supabase

    /// AppAuth for iOS and macOS: the archive of an `OIDAuthState`, where the application keeps it.
    ///
    /// Where the state holds an error of an earlier refresh, or asks for a refresh, the access token counts as expired:
    /// the next refresh decides.
    case appAuth

    /// The item of the library, for a `KeychainTokenStore`.
    public func predecessor(at location: KeychainLocation) -> KeychainPredecessor {
        .bundle(at: location) { try tokens(in: $0) }
    }

    /// Reads the tokens of an item.
    public func tokens(in item: Data) throws -> TokenBundle {
        let tokens =
            switch self {
            case .auth0: try ArchivedTokens.read(item, "A0Credentials")
            case .supabase: try SupabaseSession.read(item)
            case .appAuth:
                try ArchivedTokens.read(item, "OIDAuthState", "OIDTokenResponse", "OIDAuthorizationResponse")
            }
        return try tokens.bundle
    }
}

/// The tokens of an item.
struct FormerTokens {
    var accessToken: String?
    var refreshToken: String?
    var expiresAt: Date?
    var type: String?

    /// With the refresh token only, the access token has expired.
    var bundle: TokenBundle {
        get throws {
            let refresh = refreshToken.flatMap { $0.isEmpty ? nil : $0 }
            guard type?.lowercased() != "dpop" else {
                throw TokenStoreError(.corrupt, reason: "its tokens are bound to a key")
            }
            if let accessToken, !accessToken.isEmpty {
                return TokenBundle(accessToken: accessToken, refreshToken: refresh, expiresAt: expiresAt)
            }
            guard let refresh else { throw TokenStoreError(.corrupt, reason: "it contains no tokens") }
            return TokenBundle(accessToken: "", refreshToken: refresh, expiresAt: .distantPast)
        }
    }
}

/// The session itself, or an object with it as `session`, which the first versions wrote.
private struct SupabaseSession: Decodable {
    let accessToken: String
    let refreshToken: String
    /// In seconds since 1970. The first versions did not write it.
    let expiresAt: TimeInterval?

    private struct First: Decodable { let session: SupabaseSession }

    static func read(_ item: Data) throws -> FormerTokens {
        let decoder = JSONDecoder()
        // Version 2.20 and earlier wrote snake case. Camel case is left as it is.
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let first = try? decoder.decode(First.self, from: item).session
        let session = try first ?? decoder.decode(SupabaseSession.self, from: item)
        return FormerTokens(
            accessToken: session.accessToken, refreshToken: session.refreshToken,
            expiresAt: session.expiresAt.map(Date.init(timeIntervalSince1970:)))
    }
}
