#if canImport(CryptoKit) || Crypto
public import AuthInterface
import ConcurrencyPrimitives

/// Keeps the keys of sessions (DPoP, RFC 9449) in stores of this module, each under an account of its own.
///
/// ```swift
/// let keys = StoredSigningKeys { FileTokenStore(application: "articles.keys", account: $0) }
/// ```
///
/// So a key has the checks and the rules of the store that you choose: a file of mode 0600, the Keychain, the Secret
/// Service, PostgreSQL. The store tells a key that is not there from one that cannot be read now (G14). On Linux it
/// needs the package trait `Crypto`.
///
/// Where the device has a Secure Enclave, a new key is made in it and never leaves it; what is stored is of no use on
/// another device.
public struct StoredSigningKeys: SigningKeyStore {
    /// Whether new keys are made in the Secure Enclave, where there is one.
    public var usesSecureEnclave = true

    private let makeStore: @Sendable (String) -> any TokenStore
    /// A store knows its folder: one that it has used and that is gone is on a disk that is not mounted.
    private let stores = Locked<[String: any TokenStore]>([:])

    /// Creates a place for keys.
    ///
    /// - Parameter makeStore: Makes the store of an account, whose name is the thumbprint of a key. Its folder or
    ///   service must be for keys only, and the same for all processes of the session.
    public init(in makeStore: @escaping @Sendable (_ account: String) -> any TokenStore) { self.makeStore = makeStore }

    /// Makes a key in memory, or in the Secure Enclave, which keeps none. It does not throw.
    public func makeKey() async throws -> any SigningKey { ES256Key.make(inSecureEnclave: usesSecureEnclave) }

    /// Keeps a key that was made here.
    ///
    /// - Throws: `TokenStoreError` when it cannot be stored.
    public func keep(_ key: any SigningKey) async throws {
        guard let key = key as? ES256Key else {
            throw TokenStoreError(.unavailable, reason: "the key was made by another store")
        }
        let thumbprint = key.publicKey.thumbprint
        let content = TokenBundle(
            accessToken: key.storedText, refreshToken: nil, session: SessionID(rawValue: thumbprint))
        try await store(thumbprint).save(content)
    }

    /// Finds a key; `nil` if it is certain that it does not exist.
    ///
    /// - Throws: `TokenStoreError`: what the store throws; `corrupt` when what is stored is not this key; `unavailable`
    ///   when the Secure Enclave that made it cannot be used.
    public func key(withThumbprint thumbprint: String) async throws -> (any SigningKey)? {
        guard let content = try await store(thumbprint).load() else { return nil }
        let key = try ES256Key(storedText: content.accessToken)
        guard key.publicKey.thumbprint == thumbprint else {
            throw TokenStoreError(.corrupt, reason: "what is stored for the key \(thumbprint) is another key")
        }
        return key
    }

    /// Deletes a key.
    ///
    /// - Throws: `TokenStoreError`; the key is then kept.
    public func deleteKey(withThumbprint thumbprint: String) async throws {
        try await store(thumbprint).delete()
        stores.withLock { $0[thumbprint] = nil }
    }

    private func store(_ thumbprint: String) -> any TokenStore {
        stores.withLock { stores in
            let store = stores[thumbprint] ?? makeStore(thumbprint)
            stores[thumbprint] = store
            return store
        }
    }
}

extension StoredSigningKeys: CustomStringConvertible {
    /// The name of the type.
    public var description: String { "StoredSigningKeys" }
}
#endif
