public import AuthInterface
public import Foundation
public import Storage

/// A service that keeps values under keys: a client of Redis, Vault or etcd, or what your platform has.
public protocol KeyValueService: Sendable {
    /// - Returns: The value; `nil` only if it is certain that there is none. A service that cannot be reached throws.
    func value(of key: String) async throws -> Data?

    /// Stores a value, whole or not at all.
    func set(_ value: Data, of key: String) async throws

    /// Removes a value. One that is absent is no error.
    func remove(_ key: String) async throws
}

/// For a program whose tokens belong into a key-value service. Copy all of it, and conform your client to
/// ``KeyValueService``; `TokenStoreContract` in the test shows whether it keeps the rules.
///
/// It is for one process. If several use one session, only a `SharedTokenStore` keeps them from refreshing with the
/// same token: take `PostgreSQLTokenStore`, or conform to that protocol.
public struct KeyValueTokenStore<Service: KeyValueService>: TokenStore {
    private static var format: UInt8 { 1 }

    private let service: Service
    private let key: String
    private let cipher: any TokenCipher

    /// - Parameters:
    ///   - service: Your service.
    ///   - key: The key of the account.
    ///   - cipher: Encrypts the tokens: others can read the service, and its backups.
    public init(_ service: Service, key: String, cipher: any TokenCipher) {
        (self.service, self.key, self.cipher) = (service, key, cipher)
    }

    /// Reads the bundle. An error never means that there is none.
    public func load() async throws -> TokenBundle? {
        guard let stored = try await available({ try await service.value(of: key) }) else { return nil }
        guard let format = stored.first, format <= Self.format else {
            throw TokenStoreError(.unsupportedVersion, reason: "a later version of the program wrote the tokens")
        }
        do {
            let plain = try await cipher.open(Data(stored.dropFirst()), authenticating: Data(key.utf8))
            return try JSONDecoder().decode(TokenBundle.self, from: plain)
        } catch let error as TokenStoreError {
            throw error
        } catch {
            throw TokenStoreError(.corrupt, reason: "what is stored is no bundle of tokens", cause: error)
        }
    }

    /// Stores a bundle in one call, so that a crash leaves the old one or the new one.
    public func save(_ bundle: TokenBundle) async throws {
        let plain = try JSONEncoder().encode(bundle)
        try await available {
            let sealed = try await cipher.seal(plain, authenticating: Data(key.utf8))
            try await service.set(Data([Self.format]) + sealed, of: key)
        }
    }

    /// Removes the bundle.
    public func delete() async throws { try await available { try await service.remove(key) } }

    private func available<Value>(_ call: () async throws -> Value) async throws -> Value {
        do {
            return try await call()
        } catch let error as TokenStoreError {
            throw error
        } catch {
            throw TokenStoreError(.unavailable, reason: "the service that keeps the tokens failed", cause: error)
        }
    }
}

extension KeyValueTokenStore: RedactedDescription {
    /// The key; never a token.
    public var description: String { "KeyValueTokenStore(\(key))" }
}
