import Crypto
import Foundation

/// Signs and reads access tokens (HS256).
struct AccessTokens: Sendable {
    /// The content of an access token: claims of RFC 7519 §4.1, and three of this server's own.
    struct Claims: Codable, Sendable, Hashable {
        /// The user's identifier.
        let sub: String
        /// The token family.
        let sid: String
        /// The family's rotation number when the token was issued.
        let gen: Int
        /// The server's epoch when the token was issued; a later epoch expires it.
        let epoch: Int
        /// The time of issue, in seconds since 1970.
        let iat: Int
        /// The time of expiry, in seconds since 1970.
        let exp: Int
        /// The resource that it is for (RFC 8707). `nil`: for none of those that have tokens of their own.
        var aud: String?
        /// Unique, so that two tokens of one second differ.
        let jti: String
    }

    private let signer: TokenSigner
    private let lifetime: Duration

    init(signingKey: SymmetricKey, lifetime: Duration) {
        signer = TokenSigner(key: signingKey)
        self.lifetime = lifetime
    }

    /// Seconds until the expiry of a token (RFC 6749 §5.1, `expires_in`): at most the lifetime, 0 after the expiry.
    func expiresIn(_ claims: Claims, now: Date) -> Int {
        let seconds = Int((Double(claims.exp) - now.timeIntervalSince1970).rounded(.down))
        return min(max(0, seconds), lifetime.secondsRoundedUp)
    }

    /// The claims of a token that is issued now.
    func claims(for grant: TokenFamilies.Grant, at resource: String? = nil, epoch: Int, now: Date) -> Claims {
        let seconds = now.timeIntervalSince1970
        return Claims(
            sub: String(grant.userID), sid: grant.familyID, gen: grant.generation, epoch: epoch,
            iat: Int(seconds.rounded(.down)), exp: Int((seconds + lifetime.seconds).rounded(.up)), aud: resource,
            jti: UUID().uuidString.lowercased())
    }

    /// The token with these claims. The same claims and signing key always give the same token.
    func sign(_ claims: Claims) throws -> String { try signer.sign(claims) }

    /// The claims of a token with a valid signature, expired or not; nil for anything else.
    func claims(of token: String) -> Claims? { signer.claims(of: token) }
}
