import AuthInterface
import Foundation

extension KeychainPredecessor {
    /// One item with `{"accessToken", "refreshToken", "expiresAt"}`, as a plain `JSONEncoder` writes a `Codable`
    /// struct: the instant in seconds since 2001. Many applications keep such a struct.
    ///
    /// It may be at the store's own location, where it is converted. It becomes a new session: the user stays signed
    /// in.
    public static func plainBundle(at location: KeychainLocation) -> KeychainPredecessor {
        .bundle(at: location, readBy: readPlainBundle)
    }

    @Sendable static func readPlainBundle(_ data: Data) throws -> TokenBundle {
        let plain = try JSONDecoder().decode(PlainBundle.self, from: data)
        // Tokens with a session are those of this module's own format.
        guard plain.session == nil else { throw TokenStoreError(.corrupt, reason: "it has another format") }
        return TokenBundle(
            accessToken: plain.accessToken, refreshToken: plain.refreshToken, expiresAt: plain.expiresAt)
    }
}

private struct PlainBundle: Decodable {
    let accessToken: String
    let refreshToken: String?
    let expiresAt: Date?
    let session: String?
}
