import AuthInterface
import Foundation

extension KeychainPredecessor {
    /// The item in which supabase-swift (version 2, and 3 as it is developed) keeps its `Session` as JSON.
    ///
    /// Version 2 uses the service `supabase.gotrue.swift`, version 3 the bundle identifier. The account is
    /// `sb-PROJECT-auth-token` for a `SupabaseClient` (PROJECT is the first label of the host), and
    /// `supabase.auth.token` for an `AuthClient` alone, unless a `storageKey` was set; `supabase.session` before that.
    /// On a Mac it is in the file-based Keychain by default. The tokens become a new session; the user and the tokens
    /// of the identity provider are not kept.
    ///
    /// - Parameter location: Its location.
    /// - Returns: The predecessor.
    public static func supabaseSession(at location: KeychainLocation) -> KeychainPredecessor {
        .bundle(at: location) { data in
            let decoder = JSONDecoder()
            // Version 2.20 and earlier wrote snake case. Camel case is left as it is.
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            let session = try decoder.decode(SupabaseSession.self, from: data)
            return try KeychainPredecessor.session(
                accessToken: session.accessToken,
                refreshToken: session.refreshToken,
                expiresAt: session.expiresAt.map(Date.init(timeIntervalSince1970:))
            )
        }
    }
}

/// The session itself, or an object with it as `session`, which the first versions wrote.
private struct SupabaseSession: Decodable {
    let accessToken: String
    let refreshToken: String
    /// In seconds since 1970. The first versions did not write it.
    let expiresAt: TimeInterval?

    private enum CodingKeys: CodingKey {
        case accessToken, refreshToken, expiresAt, session
    }

    init(from decoder: any Decoder) throws {
        var members = try decoder.container(keyedBy: CodingKeys.self)
        if members.contains(.session) {
            members = try members.nestedContainer(keyedBy: CodingKeys.self, forKey: .session)
        }
        accessToken = try members.decode(String.self, forKey: .accessToken)
        refreshToken = try members.decode(String.self, forKey: .refreshToken)
        expiresAt = try members.decodeIfPresent(TimeInterval.self, forKey: .expiresAt)
    }
}
