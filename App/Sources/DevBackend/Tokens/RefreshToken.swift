import Crypto
import Foundation

/// The opaque strings clients refresh with. The database knows only their digests.
enum RefreshToken {
    /// A new family's first token: 256 random bits.
    static func random() -> String {
        SymmetricKey(size: .bits256).withUnsafeBytes { Data($0).base64URLEncodedString() }
    }

    /// What is stored in a token's place.
    static func digest(of token: String) -> Data {
        Data(SHA256.hash(data: Data(token.utf8)))
    }
}

/// Derives each token's successor from the token itself, under a key of the server's own.
///
/// A grace window has to answer the same successor twice, yet only digests are stored. Derivation squares the two:
/// whoever presents the predecessor lets the server compute the successor again; without the key nobody can.
struct RefreshTokenSuccession: Sendable {
    let key: SymmetricKey

    /// The successor, as unpredictable as a random one to anybody without the key (HMAC-SHA256, RFC 2104).
    func successor(of token: String) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Data(token.utf8), using: key)
        return Data(code).base64URLEncodedString()
    }
}

/// What makes a repeated refresh recognisable: a value its client chose, and which client that was.
struct RefreshKey: Sendable, Hashable {
    /// The OAuth 2.0 client, or nil at `/auth/refresh`, which knows none.
    let client: String?
    /// The value of `Idempotency-Key`.
    let value: String

    /// What is stored in the key's place. A key may be easy to guess, so a plain digest would not hide it.
    func digest(under key: SymmetricKey) -> Data {
        let client = client.map { "\($0.utf8.count):\($0)" } ?? "-:"
        return Data(HMAC<SHA256>.authenticationCode(for: Data("idempotency-key:\(client)\(value)".utf8), using: key))
    }
}

extension Data {
    /// The alphabet of RFC 4648 §5, without padding.
    func base64URLEncodedString() -> String {
        String(
            base64EncodedString().compactMap { character in
                switch character {
                case "+": "-"
                case "/": "_"
                case "=": nil
                default: character
                }
            })
    }

    init?(base64URLEncoded text: String) {
        let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        self.init(base64Encoded: standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4))
    }
}
