public import struct Foundation.Data

/// A public key (RFC 7517): of an elliptic curve, or of RSA.
///
/// Other members of a key, such as `kid`, are not kept, and a private key has no place in it.
public struct JSONWebKey: Sendable, Hashable, Codable {
    /// The type of the key, `EC` or `RSA` (RFC 7518 §6.1).
    package let type: String

    /// The members that make the key, in the order of their names, as base64url or plain text: `crv`, `kty`, `x`, `y`,
    /// or `e`, `kty`, `n`.
    package var members: [(name: String, value: String)] {
        [("crv", curve), ("e", exponent), ("kty", type), ("n", modulus), ("x", x), ("y", y)]
            .compactMap { name, value in value.map { (name, $0) } }
    }

    private var curve: String?
    private var x: String?
    private var y: String?
    private var modulus: String?
    private var exponent: String?

    private enum CodingKeys: String, CodingKey {
        case x, y
        case type = "kty"
        case curve = "crv"
        case modulus = "n"
        case exponent = "e"
    }

    /// A key of the curve P-256 (RFC 7518 §6.2.1). Each coordinate has 32 bytes.
    public static func p256(x: Data, y: Data) -> JSONWebKey {
        JSONWebKey(type: "EC", curve: "P-256", x: x.base64URL, y: y.base64URL)
    }

    /// A key of RSA (RFC 7518 §6.3.1). Both numbers have their highest byte first.
    package static func rsa(modulus: Data, exponent: Data) -> JSONWebKey {
        JSONWebKey(type: "RSA", modulus: modulus.base64URL, exponent: exponent.base64URL)
    }

    /// The thumbprint with SHA-256 in base64url (RFC 7638): the name under which a server binds tokens to the key.
    ///
    /// - Complexity: Hashes some hundred bytes. Keep the result.
    public var thumbprint: String {
        let members = members.map { "\"\($0.name)\":\"\($0.value)\"" }
        return SHA256Digest.of(Array("{\(members.joined(separator: ","))}".utf8)).base64URL
    }
}

extension JSONWebKey: CustomStringConvertible {
    /// The type and the thumbprint.
    public var description: String { "JSONWebKey(\(type), \(thumbprint))" }
}

extension Data {
    /// The bytes in the alphabet of RFC 4648 §5, without padding.
    package var base64URL: String {
        base64EncodedString()
            .replacing("+", with: "-")
            .replacing("/", with: "_")
            .replacing("=", with: "")
    }

    /// Decodes the alphabet of RFC 4648 §5, without padding. `nil`: the text is not of it.
    package init?(base64URL text: some StringProtocol) {
        guard !text.utf8.contains(where: { "+/=".utf8.contains($0) }) else { return nil }
        var base64 = String(text).replacing("-", with: "+").replacing("_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        self.init(base64Encoded: base64)
    }
}
