import Crypto
import Foundation
import JWTKit

/// What an access token says (RFC 7519 §4.1, and three claims of our own).
struct AccessClaims: JWTPayload, Hashable {
    /// The user's identifier.
    let sub: String
    /// The token family.
    let sid: String
    /// The family's rotation number when the token was issued.
    let gen: Int
    /// The server's epoch when the token was issued; a later epoch expires it.
    let epoch: Int
    /// When it was issued, in seconds since 1970.
    let iat: Int
    /// From when on it is expired, in seconds since 1970.
    let exp: Int
    /// Unique, so that two tokens of one second differ.
    let jti: String

    /// Nothing to check here: expiry depends on the server's clock and epoch, which a payload cannot see.
    func verify(using algorithm: some JWTAlgorithm) async throws {}
}

/// Signs and reads access tokens (HS256).
struct AccessTokens: Sendable {
    private let keys: JWTKeyCollection
    private let lifetime: Duration

    init(signingKey: SymmetricKey, lifetime: Duration) async {
        // Sorted members: the same claims always give the same token, so that it can be repeated without being stored.
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        keys = JWTKeyCollection()
        await keys.add(
            hmac: HMACKey(key: signingKey), digestAlgorithm: .sha256,
            serializer: DefaultJWTSerializer(jsonEncoder: encoder))
        self.lifetime = lifetime
    }

    /// Seconds until a token issued now expires (RFC 6749 §5.1, `expires_in`).
    var expiresIn: Int { lifetime.secondsRoundedUp }

    /// Seconds that a token issued earlier is still valid; 0 when it has expired.
    func expiresIn(_ claims: AccessClaims, now: Date) -> Int {
        let seconds = Int((Double(claims.exp) - now.timeIntervalSince1970).rounded(.down))
        return min(max(0, seconds), expiresIn)
    }

    /// What a token issued now says.
    func claims(for grant: TokenGrant, epoch: Int, now: Date) -> AccessClaims {
        let seconds = now.timeIntervalSince1970
        return AccessClaims(
            sub: String(grant.userID), sid: grant.familyID, gen: grant.generation, epoch: epoch,
            iat: Int(seconds.rounded(.down)), exp: Int((seconds + lifetime.seconds).rounded(.up)),
            jti: UUID().uuidString.lowercased())
    }

    /// The token that says this. The same claims give the same token, on every start of a server with the same key.
    func sign(_ claims: AccessClaims) async throws -> String { try await keys.sign(claims) }

    /// The claims of a token with a good signature, however old; nil for anything else.
    func claims(of token: String) async -> AccessClaims? {
        try? await keys.verify(token, as: AccessClaims.self)
    }
}
