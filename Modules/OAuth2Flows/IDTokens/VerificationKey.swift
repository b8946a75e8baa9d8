import AuthInterface
import Foundation

/// The algorithms by which an id token may be signed (RFC 7518 §3.1, RFC 8037 §3.1). The set is closed: `none` is no
/// algorithm here, and neither are those with a shared secret.
enum SignatureAlgorithm: String, Sendable, Hashable, CaseIterable {
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case edDSA = "EdDSA"
}

/// A public key by which a server signs (RFC 7517).
struct VerificationKey: Sendable, Hashable {
    /// The sizes of RSA keys that are used, in bytes: at least those of RFC 7518 §3.3, and no more than is checked in a
    /// few milliseconds.
    static let modulusLengths = 256...1_024

    /// The bytes of a key of Ed25519.
    static let ed25519Length = 32

    /// The identifier (`kid`); `nil`: it has none.
    let id: String?
    let content: Content

    /// The algorithm that the key names (`alg`).
    private(set) var algorithm: SignatureAlgorithm?

    enum Content: Sendable, Hashable {
        /// RFC 7518 §6.2.
        case point(Curve, x: Data, y: Data)
        /// RFC 7518 §6.3.
        case rsa(modulus: Data, exponent: Data)
        /// RFC 8037 §2.
        case ed25519(Data)
    }

    enum Curve: String, Sendable {
        case p256 = "P-256"
        case p384 = "P-384"
        case p521 = "P-521"

        /// The bytes of a coordinate.
        var coordinateLength: Int {
            switch self {
            case .p256: 32
            case .p384: 48
            case .p521: 66
            }
        }
    }

    init(id: String?, content: Content) { (self.id, self.content) = (id, content) }

    /// Whether the key is for an algorithm: the one that it names, or each of its kind where it names none.
    func isFor(_ algorithm: SignatureAlgorithm) -> Bool {
        self.algorithm == algorithm || (self.algorithm == nil && algorithmsOfKind.contains(algorithm))
    }

    private var algorithmsOfKind: [SignatureAlgorithm] {
        switch content {
        case .point(.p256, _, _): [.es256]
        case .point(.p384, _, _): [.es384]
        case .point(.p521, _, _): [.es512]
        case .rsa: [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
        case .ed25519: [.edDSA]
        }
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
        func coordinate(_ key: CodingKeys, _ length: Int) throws -> Data {
            try bytes(key, length...length, isNumber: false)
        }
        id = try object.decodeIfPresent(String.self, forKey: .kid)
        let curve = try object.decodeIfPresent(String.self, forKey: .crv)
        switch try object.decode(String.self, forKey: .kty) {
        case "EC":
            guard let curve = curve.flatMap(Curve.init) else { throw Self.unusable(.crv, object) }
            let length = curve.coordinateLength
            content = .point(curve, x: try coordinate(.x, length), y: try coordinate(.y, length))
        case "OKP" where curve == "Ed25519":
            content = .ed25519(try coordinate(.x, Self.ed25519Length))
        case "RSA":
            content = .rsa(modulus: try bytes(.n, Self.modulusLengths), exponent: try bytes(.e, 1...4))
        default:
            throw Self.unusable(.kty, object)
        }
        let name = try object.decodeIfPresent(String.self, forKey: .alg)
        algorithm = name.flatMap(SignatureAlgorithm.init)
        let operations = try object.decodeIfPresent([String].self, forKey: .operations)
        let use = try object.decodeIfPresent(String.self, forKey: .use)
        guard name == nil || algorithm.map(algorithmsOfKind.contains) == true else { throw Self.unusable(.alg, object) }
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
            guard key.isFor(token.algorithm) else { return false }
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
