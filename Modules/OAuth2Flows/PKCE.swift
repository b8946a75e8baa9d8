#if canImport(CryptoKit) || Crypto
import AuthInterface
import Foundation

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

/// The proof that the client that exchanges a code is the one that asked for it (RFC 7636), with the method S256.
struct PKCE: Sendable {
    /// The secret: 256 random bits, 43 characters (§4.1).
    let verifier: String

    init(verifier: String = randomText()) {
        self.verifier = verifier
    }

    /// The digest of the verifier (§4.2).
    var challenge: String {
        Data(SHA256.hash(data: Data(verifier.utf8))).base64URL
    }

    /// 256 random bits as text that is safe in a URL.
    static func randomText() -> String {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }).base64URL
    }
}

extension PKCE: RedactedDescription {
    var description: String { "PKCE" }
}
#endif
