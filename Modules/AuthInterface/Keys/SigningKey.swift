public import struct Foundation.Data

/// A private key that signs, and is never read: of a session's tokens (DPoP, RFC 9449), or of a client
/// (`private_key_jwt`, RFC 7523).
///
/// The two are never the same key: a client's key belongs to the client, and that of a session is deleted when the
/// session ends.
public protocol SigningKey: Sendable {
    /// The algorithm of the signatures.
    var algorithm: SigningAlgorithm { get }

    /// The public half of the key.
    var publicKey: JSONWebKey { get }

    /// Signs bytes.
    ///
    /// - Parameter message: The bytes. The algorithm hashes them itself.
    /// - Returns: The signature as JSON Web Signature has it: for ES256 the 32 bytes of R, then the 32 bytes of S (RFC
    ///   7518 §3.4), and not the DER of other formats.
    /// - Throws: ``TokenStoreError`` when the key cannot be used now, for example because the device is locked. Any
    ///   error counts as *unavailable*: it signs no user out.
    func sign(_ message: Data) async throws -> Data
}

/// The name of a signature algorithm (RFC 7518 §3.1).
public struct SigningAlgorithm: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// The name, as it is in a header of JSON Web Signature.
    public let rawValue: String

    /// Creates a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// ECDSA with P-256 and SHA-256: the one that the keys of this package have.
    public static let es256 = SigningAlgorithm(rawValue: "ES256")

    /// The name.
    public var description: String { rawValue }
}
