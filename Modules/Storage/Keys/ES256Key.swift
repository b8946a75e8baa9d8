#if canImport(CryptoKit) || Crypto
import AuthInterface
import Foundation

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

/// A key of P-256: in memory, or in the Secure Enclave.
struct ES256Key: SigningKey {
    private enum Half: Sendable {
        case inMemory(P256.Signing.PrivateKey)
        #if canImport(CryptoKit)
        case inEnclave(SecureEnclave.P256.Signing.PrivateKey)
        #endif
    }

    private let half: Half
    let publicKey: JSONWebKey

    var algorithm: SigningAlgorithm { .es256 }

    private init(_ half: Half, _ publicKey: P256.Signing.PublicKey) {
        self.half = half
        let point = publicKey.rawRepresentation
        self.publicKey = .p256(x: point.prefix(32), y: point.suffix(32))
    }

    /// Makes a key: in the Secure Enclave, if that is asked for and there is one.
    static func make(inSecureEnclave: Bool) -> ES256Key {
        #if canImport(CryptoKit)
        if inSecureEnclave, SecureEnclave.isAvailable, let key = try? SecureEnclave.P256.Signing.PrivateKey() {
            return ES256Key(.inEnclave(key), key.publicKey)
        }
        #endif
        let key = P256.Signing.PrivateKey()
        return ES256Key(.inMemory(key), key.publicKey)
    }

    /// Reads a key that was stored. One of another Secure Enclave is `unavailable`.
    init(storedText: String) throws(TokenStoreError) {
        let parts = storedText.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, let data = Data(base64URL: parts[1]) else { throw Self.corrupt }
        switch parts[0] {
        case "p256":
            guard let key = try? P256.Signing.PrivateKey(rawRepresentation: data) else { throw Self.corrupt }
            self.init(.inMemory(key), key.publicKey)
        #if canImport(CryptoKit)
        case "enclave":
            guard SecureEnclave.isAvailable,
                let key = try? SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: data)
            else {
                throw TokenStoreError(.unavailable, reason: "the Secure Enclave that made the key cannot be used")
            }
            self.init(.inEnclave(key), key.publicKey)
        #endif
        default: throw TokenStoreError(.unsupportedVersion, reason: "the stored key is of a kind that is not known")
        }
    }

    /// What is stored: the key, or for one of the Secure Enclave what only that Secure Enclave can read.
    var storedText: String {
        switch half {
        case .inMemory(let key): "p256.\(key.rawRepresentation.base64URL)"
        #if canImport(CryptoKit)
        case .inEnclave(let key): "enclave.\(key.dataRepresentation.base64URL)"
        #endif
        }
    }

    func sign(_ message: Data) async throws -> Data {
        do {
            switch half {
            case .inMemory(let key): return try key.signature(for: message).rawRepresentation
            #if canImport(CryptoKit)
            case .inEnclave(let key): return try key.signature(for: message).rawRepresentation
            #endif
            }
        } catch {
            throw TokenStoreError(.unavailable, reason: "the key cannot be used now", cause: error)
        }
    }

    private static let corrupt = TokenStoreError(.corrupt, reason: "what is stored is no key")
}

extension ES256Key: RedactedDescription {
    /// The public half.
    var description: String { "ES256Key(\(publicKey.thumbprint))" }
}
#endif
