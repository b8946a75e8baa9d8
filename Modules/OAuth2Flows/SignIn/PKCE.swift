#if canImport(CryptoKit) || Crypto
import AuthInterface

/// The proof that the client that exchanges a code is the one that asked for it (RFC 7636), with the method S256.
struct PKCE: Sendable {
    /// The secret: 256 random bits, 43 characters (§4.1).
    var verifier = Self.randomText()

    /// The digest of the verifier (§4.2).
    var challenge: String { DPoPProof.digest(of: verifier) }

    /// 256 random bits as text that is safe in a URL.
    static func randomText() -> String { DPoPProof.randomText(bytes: 32) }
}

extension PKCE: RedactedDescription {
    var description: String { "PKCE" }
}
#endif
