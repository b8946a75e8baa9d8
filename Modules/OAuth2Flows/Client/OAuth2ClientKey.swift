#if canImport(CryptoKit) || Crypto
public import AuthInterface
public import Foundation

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

/// The private key of a client, read from PEM: for ``OAuth2Client/privateKey(id:key:issuer:keyID:lifetime:clock:)``.
///
/// ```swift
/// let key = try OAuth2ClientKey(pem: String(contentsOf: file, encoding: .utf8))
/// ```
///
/// It signs with ES256. `openssl ecparam -genkey -noout -name prime256v1` makes such a key. A key in a device that
/// signs is a `SigningKey` of your own.
public struct OAuth2ClientKey: SigningKey {
    /// The public half, which is registered at the server.
    public let publicKey: JSONWebKey

    private let key: P256.Signing.PrivateKey

    /// ES256.
    public var algorithm: SigningAlgorithm { .es256 }

    /// Reads a key of P-256 without a password, as PKCS #8 (`PRIVATE KEY`) or SEC 1 (`EC PRIVATE KEY`). Text around it,
    /// such as the parameters of the curve, is not read.
    ///
    /// - Throws: ``OAuth2SignInError`` with code `unsupported` for any other text.
    public init(pem: String) throws(OAuth2SignInError) {
        let block = pem.firstMatch(of: /-----BEGIN (EC )?PRIVATE KEY-----[^-]*-----END (EC )?PRIVATE KEY-----/)
        let text = block.map { String($0.output.0) } ?? pem
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: text) else {
            throw OAuth2SignInError(
                .unsupported, reason: "the client's key must be a key of P-256 in PEM, without a password")
        }
        let point = key.publicKey.rawRepresentation
        publicKey = .p256(x: point.prefix(32), y: point.suffix(32))
        self.key = key
    }

    /// Signs bytes.
    public func sign(_ message: Data) async throws -> Data { try key.signature(for: message).rawRepresentation }
}

extension OAuth2ClientKey: RedactedDescription {
    /// The public half.
    public var description: String { "OAuth2ClientKey(\(publicKey.thumbprint))" }
}
#endif
