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

    /// A token's successor: HMAC-SHA256 (RFC 2104) under a key of the server, unpredictable without it.
    ///
    /// A grace window must return the same successor twice, yet only digests are stored. A client that presents the
    /// predecessor lets the server compute the successor again.
    static func successor(of token: String, under key: SymmetricKey) -> String {
        Data(HMAC<SHA256>.authenticationCode(for: Data(token.utf8), using: key)).base64URLEncodedString()
    }

    /// What the database holds instead of an `Idempotency-Key`. It may be easy to guess, so a plain digest would not
    /// hide it.
    static func keyDigest(of value: String, under key: SymmetricKey) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: Data("idempotency-key:\(value)".utf8), using: key))
    }
}

extension Data {
    /// The text in the alphabet of RFC 4648 §5, without padding.
    func base64URLEncodedString() -> String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    init?(base64URLEncoded text: String) {
        let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        self.init(base64Encoded: standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4))
    }
}
