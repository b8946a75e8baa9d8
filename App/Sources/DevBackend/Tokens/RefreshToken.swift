import Crypto
import Foundation

/// The opaque strings that clients refresh with. The database holds only their digests.
enum RefreshToken {
    /// A family's first token: 256 random bits.
    static func random() -> String {
        SymmetricKey(size: .bits256).withUnsafeBytes { Data($0).base64URLEncodedString() }
    }

    /// What the database holds instead of the token.
    static func digest(of token: String) -> Data {
        Data(SHA256.hash(data: Data(token.utf8)))
    }

    /// Derives each token's successor from the token, under a key of the server.
    ///
    /// A grace window must return the same successor twice, yet only digests are stored. A client that presents the
    /// predecessor lets the server compute the successor again; without the key it cannot be computed.
    struct Succession: Sendable {
        let key: SymmetricKey

        /// The successor: HMAC-SHA256 (RFC 2104), unpredictable without the key.
        func successor(of token: String) -> String {
            let code = HMAC<SHA256>.authenticationCode(for: Data(token.utf8), using: key)
            return Data(code).base64URLEncodedString()
        }
    }

    /// What identifies a repeated refresh: an `Idempotency-Key`, and the client that chose it.
    struct Key: Sendable, Hashable {
        /// The OAuth 2.0 client; nil at `/auth/refresh`, which has no clients.
        let client: String?
        /// The value of `Idempotency-Key`.
        let value: String

        /// What the database holds instead of the key. A key may be easy to guess, so a plain digest would not hide it.
        func digest(under key: SymmetricKey) -> Data {
            let client = client.map { "\($0.utf8.count):\($0)" } ?? "-:"
            let text = "idempotency-key:\(client)\(value)"
            return Data(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))
        }
    }
}

extension Data {
    /// The text in the alphabet of RFC 4648 §5, without padding.
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
