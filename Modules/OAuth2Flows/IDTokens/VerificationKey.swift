import AuthInterface
import Foundation

/// The algorithms by which an id token may be signed (RFC 7518 §3.1). The set is closed: `none` is no algorithm here,
/// and neither are those with a shared secret.
enum SignatureAlgorithm: String, Sendable, Hashable {
    case es256 = "ES256"
    case rs256 = "RS256"
}

/// A public key by which a server signs (RFC 7517).
struct VerificationKey: Sendable, Hashable {
    /// The sizes of RSA keys that are used, in bytes: at least those of RFC 7518 §3.3, and no more than is checked in a
    /// few milliseconds.
    static let modulusLengths = 256...1_024

    /// The bytes of a coordinate of P-256.
    static let coordinateLength = 32

    /// The identifier (`kid`); `nil`: it has none.
    let id: String?
    let content: Content

    enum Content: Sendable, Hashable {
        /// A point of P-256 (RFC 7518 §6.2).
        case p256(x: Data, y: Data)
        /// RFC 7518 §6.3.
        case rsa(modulus: Data, exponent: Data)
    }

    /// The one algorithm that the key is for. The token does not choose it.
    var algorithm: SignatureAlgorithm {
        switch content {
        case .p256: .es256
        case .rsa: .rs256
        }
    }

    /// The point as X9.63 writes it: uncompressed. `nil`: it is no point.
    var point: Data? {
        guard case .p256(let x, let y) = content else { return nil }
        return [0x04] + x + y
    }

    /// The key as `RSAPublicKey` (RFC 8017 appendix A.1.1), in DER. `nil`: it is no RSA key.
    var rsaPublicKey: Data? {
        guard case .rsa(let modulus, let exponent) = content else { return nil }
        return Self.der(0x30, Self.integer(modulus) + Self.integer(exponent))
    }

    private static func integer(_ bytes: Data) -> Data {
        let digits = Data(bytes.drop { $0 == 0 })
        // A first bit that is set would make it negative.
        return der(0x02, (digits.first.map { $0 >= 0x80 } ?? true) ? [0] + digits : digits)
    }

    private static func der(_ tag: UInt8, _ content: Data) -> Data {
        let length = withUnsafeBytes(of: UInt32(content.count).bigEndian) { Data($0.drop { $0 == 0 }) }
        let isShort = content.count < 0x80
        return Data([tag] + (isShort ? [UInt8(content.count)] : [0x80 | UInt8(length.count)] + length)) + content
    }
}

extension VerificationKey: Decodable {
    private enum CodingKeys: String, CodingKey {
        case kty, use, alg, kid, crv, x, y, n, e
        case operations = "key_ops"
    }

    /// Reads a key.
    ///
    /// - Throws: `DecodingError` for a key that signs no id token, or by an algorithm that is not supported.
    init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        func bytes(_ key: CodingKeys, _ lengths: ClosedRange<Int>, isNumber: Bool = true) throws -> Data {
            // A number has no zeros before it; a coordinate has its whole length (RFC 7518 §6.2.1.2).
            let data = Data(base64URL: try object.decode(String.self, forKey: key))
                .map { isNumber ? Data($0.drop { $0 == 0 }) : $0 }
            guard let data, lengths.contains(data.count) else { throw Self.unusable(key, object) }
            return data
        }
        func coordinate(_ key: CodingKeys) throws -> Data {
            try bytes(key, Self.coordinateLength...Self.coordinateLength, isNumber: false)
        }
        id = try object.decodeIfPresent(String.self, forKey: .kid)
        switch try object.decode(String.self, forKey: .kty) {
        case "EC" where try object.decode(String.self, forKey: .crv) == "P-256":
            content = .p256(x: try coordinate(.x), y: try coordinate(.y))
        case "RSA":
            content = .rsa(modulus: try bytes(.n, Self.modulusLengths), exponent: try bytes(.e, 1...4))
        default:
            throw Self.unusable(.kty, object)
        }
        let algorithm = try object.decodeIfPresent(String.self, forKey: .alg)
        let operations = try object.decodeIfPresent([String].self, forKey: .operations)
        let use = try object.decodeIfPresent(String.self, forKey: .use)
        guard algorithm == nil || algorithm == self.algorithm.rawValue else { throw Self.unusable(.alg, object) }
        guard use == nil || use == "sig" else { throw Self.unusable(.use, object) }
        guard operations?.contains("verify") ?? true else { throw Self.unusable(.operations, object) }
    }

    private static func unusable(_ key: CodingKeys, _ object: KeyedDecodingContainer<CodingKeys>) -> DecodingError {
        DecodingError.dataCorruptedError(forKey: key, in: object, debugDescription: "the key signs no id token")
    }
}

/// The keys that a server publishes (RFC 7517 §5).
struct VerificationKeySet: Sendable, Hashable {
    /// The largest set that is read, in bytes: 256 KiB.
    static let maximumSize = 256 * 1_024

    /// The most keys of a set.
    static let maximumCount = 100

    /// Those that can be used. Keys of another kind are left out, as RFC 7517 §5 has it.
    let keys: [VerificationKey]

    /// Those by which a token may be signed: of its algorithm, and of its `kid` where it names one.
    func candidates(for token: JSONWebSignature) -> [VerificationKey] {
        keys.filter { key in
            guard key.algorithm == token.algorithm else { return false }
            guard let id = token.keyID else { return true }
            return key.id?.hasSameBytes(as: id) == true
        }
    }
}

extension VerificationKeySet: Decodable {
    private enum CodingKeys: String, CodingKey { case keys }

    private struct Entry: Decodable {
        let key: VerificationKey?

        init(from decoder: any Decoder) { key = try? VerificationKey(from: decoder) }
    }

    /// Reads a set.
    ///
    /// - Throws: `DecodingError` when it is no set, or has too many keys.
    init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        let entries = try object.decode([Entry].self, forKey: .keys)
        guard entries.count <= Self.maximumCount else {
            throw DecodingError.dataCorruptedError(
                forKey: .keys, in: object, debugDescription: "more than \(Self.maximumCount) keys")
        }
        keys = entries.compactMap(\.key)
    }
}

extension String {
    /// Whether two texts have the same bytes. `==` takes texts for the same whose characters are written differently.
    func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
