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
        keys = JWTKeyCollection()
        await keys.add(hmac: HMACKey(key: signingKey), digestAlgorithm: .sha256)
        self.lifetime = lifetime
    }

    /// Seconds until a token issued now expires (RFC 6749 §5.1, `expires_in`).
    var expiresIn: Int { lifetime.secondsRoundedUp }

    func issue(for grant: TokenGrant, epoch: Int, now: Date) async throws -> String {
        let seconds = now.timeIntervalSince1970
        let claims = AccessClaims(
            sub: String(grant.userID), sid: grant.familyID, gen: grant.generation, epoch: epoch,
            iat: Int(seconds.rounded(.down)), exp: Int((seconds + lifetime.seconds).rounded(.up)),
            jti: UUID().uuidString.lowercased())
        return try await keys.sign(claims)
    }

    /// The claims of a token with a good signature, however old; nil for anything else.
    func claims(of token: String) async -> AccessClaims? {
        try? await keys.verify(token, as: AccessClaims.self)
    }
}
