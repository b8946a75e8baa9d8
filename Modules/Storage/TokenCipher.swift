public import Foundation

/// Encrypts tokens for a store that others can read: a database, its replicas and its backups.
///
/// A store calls ``seal(_:authenticating:)`` before each save and ``open(_:authenticating:)`` after each load. Latchkey
/// ships no cryptography: the application provides the cipher and protects its key. See the article "Sharing tokens in
/// PostgreSQL" of `PostgreSQLStorage` for one with AES-GCM.
///
/// The associated data names the account, the session and the generation the tokens belong to. It is not secret and is
/// not stored. A cipher that authenticates it refuses tokens that were moved to another row.
public protocol TokenCipher: Sendable {
    /// Encrypts tokens.
    ///
    /// - Parameters:
    ///   - plaintext: The tokens, as a store encodes them.
    ///   - associatedData: What the tokens belong to.
    /// - Returns: What may be stored. It must differ from call to call even for the same tokens.
    /// - Throws: Any error. The save then fails, and the stored content is unchanged. A `TokenStoreError` and
    ///   `CancellationError` are passed on as they are.
    func seal(_ plaintext: Data, authenticating associatedData: Data) async throws -> Data

    /// Decrypts what ``seal(_:authenticating:)`` returned, here or in another process.
    ///
    /// - Parameters:
    ///   - sealed: What is stored.
    ///   - associatedData: The same bytes as at the sealing.
    /// - Returns: The tokens.
    /// - Throws: A `TokenStoreError` and `CancellationError` are passed on as they are: throw the former with code
    ///   `unavailable` when a key service cannot be reached. Anything else means that these bytes are not tokens
    ///   (`corrupt`). Neither signs a user out.
    func open(_ sealed: Data, authenticating associatedData: Data) async throws -> Data
}

/// No encryption: a reader of the store reads the tokens.
///
/// For tests, and for a store that is itself encrypted and that only the processes can read. It is never a default, so
/// that a review notices it.
public struct UnencryptedTokenCipher: TokenCipher {
    /// Creates a cipher that does not encrypt.
    public init() {}

    /// Returns the plaintext.
    public func seal(_ plaintext: Data, authenticating associatedData: Data) async -> Data { plaintext }

    /// Returns the stored bytes.
    public func open(_ sealed: Data, authenticating associatedData: Data) async -> Data { sealed }
}
