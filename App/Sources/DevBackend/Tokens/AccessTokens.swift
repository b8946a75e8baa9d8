import Crypto
import Foundation

struct AccessTokens: Sendable {
    /// The content of an access token: claims of RFC 7519 §4.1, and three of this server's own.
    struct Claims: Codable, Sendable, Hashable {
        let sub: String
        let sid: String
        /// The family's rotation number when the token was issued.
        let gen: Int
        /// The server's epoch when the token was issued; a later epoch expires it.
        let epoch: Int
        /// The times of issue and of expiry, in seconds since 1970.
        let iat: Int
        let exp: Int
        /// Unique, so that two tokens of one second differ.
        let jti: String
    }

    let signer: TokenSigner
    let lifetime: Duration

    /// Seconds until the expiry of a token (RFC 6749 §5.1, `expires_in`): at most the lifetime, 0 after the expiry.
    func expiresIn(_ claims: Claims, now: Date) -> Int {
        let seconds = Int((Double(claims.exp) - now.timeIntervalSince1970).rounded(.down))
        return min(max(0, seconds), lifetime.secondsRoundedUp)
    }

    func claims(for grant: TokenFamilies.Grant, epoch: Int, now: Date) -> Claims {
        let seconds = now.timeIntervalSince1970
        return Claims(
            sub: String(grant.userID), sid: grant.familyID, gen: grant.generation, epoch: epoch,
            iat: Int(seconds.rounded(.down)), exp: Int((seconds + lifetime.seconds).rounded(.up)),
            jti: UUID().uuidString.lowercased())
    }

    /// The claims of a token with a valid signature, expired or not; nil for anything else.
    func claims(of token: String) -> Claims? { signer.claims(of: token) }
}

/// Signs and reads JSON Web Tokens (RFC 7519) in compact form (RFC 7515 §3.1) with HS256, which is HMAC with SHA-256
/// (RFC 7518 §3.2).
///
/// A package for every algorithm would bring those for certificates, of which this server has none.
struct TokenSigner: Sendable {
    let key: SymmetricKey

    /// The only header that is written and accepted.
    private static let header = Data(#"{"alg":"HS256","typ":"JWT"}"#.utf8).base64URLEncodedString()

    /// The token with these claims. The same claims and key always give the same token, so that it can be repeated
    /// without being stored.
    func sign(_ claims: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let signed = "\(Self.header).\(try encoder.encode(claims).base64URLEncodedString())"
        let code = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: key)
        return "\(signed).\(Data(code).base64URLEncodedString())"
    }

    /// The claims of a token with a valid signature; nil for anything else. Nothing is checked beyond that.
    func claims<Claims: Decodable>(of token: String) -> Claims? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts[0] == Self.header, let claims = Data(base64URLEncoded: parts[1]),
            let code = Data(base64URLEncoded: parts[2]),
            HMAC<SHA256>.isValidAuthenticationCode(
                code, authenticating: Data("\(parts[0]).\(parts[1])".utf8), using: key)
        else { return nil }
        return try? JSONDecoder().decode(Claims.self, from: claims)
    }
}
