#if PostgreSQL
import AuthInterface
import Foundation

/// A bundle as it is stored: encrypted, but for what the database must compare.
struct SealedBundle: Sendable {
    /// The version of the row: of what is sealed, and of what it is sealed with.
    static let currentVersion: Int64 = 1

    /// The most that is read of a row, and so the most that is written to one: 1 MB. A bundle has a few kilobytes.
    static let sizeLimit = 1 << 20

    let version: Int64
    let generation: Int64
    let session: String
    let ciphertext: Data

    /// What the ciphertext belongs to, for the cipher to authenticate. The length before the session keeps two accounts
    /// and sessions from running together into the same bytes.
    static func associatedData(account: String, session: String, generation: Int64) -> Data {
        Data("latchkey-tokens/\(currentVersion)/\(generation)/\(session.utf8.count)/\(session)/\(account)".utf8)
    }
}

/// Seals and opens the bundles of one account.
struct BundleSeal: Sendable {
    let account: String
    let cipher: any TokenCipher

    private let envelope = TokenEnvelope()

    init(account: String, cipher: any TokenCipher) {
        self.account = account
        self.cipher = cipher
    }

    /// Encrypts a bundle.
    ///
    /// - Throws: ``TokenStoreError`` with code `unavailable`; what the cipher throws of that type; `CancellationError`.
    func seal(_ bundle: TokenBundle) async throws -> SealedBundle {
        let generation = Int64(bundle.generation)
        let session = bundle.session.rawValue
        let plaintext = try envelope.encode(bundle)
        let label = SealedBundle.associatedData(account: account, session: session, generation: generation)
        let ciphertext = try await attempt(.unavailable, "the token cipher could not seal the tokens") {
            try await cipher.seal(plaintext, authenticating: label)
        }
        guard ciphertext.count <= SealedBundle.sizeLimit else {
            throw TokenStoreError(.unavailable, reason: "the bundle is larger than \(SealedBundle.sizeLimit) bytes")
        }
        return SealedBundle(
            version: SealedBundle.currentVersion,
            generation: generation,
            session: session,
            ciphertext: ciphertext
        )
    }

    /// Decrypts a bundle, and checks that it is the one the row says it is.
    ///
    /// - Throws: ``TokenStoreError`` with code `unsupportedVersion` or `corrupt`; what the cipher throws of that type;
    ///   `CancellationError`.
    func open(_ row: SealedBundle) async throws -> TokenBundle {
        guard row.version <= SealedBundle.currentVersion else { throw TokenStoreError.newer(row.version) }
        let label = SealedBundle.associatedData(account: account, session: row.session, generation: row.generation)
        let plaintext = try await attempt(.corrupt, "the token cipher could not open what is stored") {
            try await cipher.open(row.ciphertext, authenticating: label)
        }
        switch envelope.decode(plaintext) {
        case .bundle(let bundle) where bundle.generation == row.generation && bundle.session.rawValue == row.session:
            return bundle
        case .newer(let version):
            throw TokenStoreError.newer(Int64(version))
        case .bundle, .unreadable:
            throw TokenStoreError(.corrupt, reason: "what is stored are not the tokens of this row")
        }
    }

    private func attempt(
        _ code: TokenStoreError.Code,
        _ reason: String,
        _ work: () async throws -> Data
    ) async throws -> Data {
        do {
            return try await work()
        } catch let error as TokenStoreError {
            throw error
        } catch let error as CancellationError {
            throw error
        } catch {
            throw TokenStoreError(code, reason: "\(reason) (\(type(of: error)))", cause: error)
        }
    }
}

extension TokenStoreError {
    /// A row that a later version of this library has written.
    static func newer(_ version: Int64) -> TokenStoreError {
        TokenStoreError(
            .unsupportedVersion,
            reason: "the row has version \(version) of the format; update this program, or sign out to remove the row"
        )
    }
}
#endif
