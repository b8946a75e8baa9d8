#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives
import Foundation
import Storage

/// Seals and opens the sessions of one account.
struct SessionSeal: Sendable {
    var account: String
    let cipher: any TokenCipher
    let replacesUnreadableRows: Bool
    let limit: Duration
    let clock: any TimeSource

    /// Encrypts a session. Returns the content of the row; `nil` for an empty session.
    func seal(_ session: StoredSession) async throws -> SealedSession? {
        switch session {
        case .empty: return nil
        case .active(let bundle): return try await seal(bundle)
        case .tombstone:
            let content = SealedSession.Content.tombstone(try TokenEnvelope.encode(session))
            return SealedSession(format: SealedSession.currentVersion, content: content)
        }
    }

    /// Decrypts a session, and checks that it is the one that the row names. Returns a failure with code `corrupt` when
    /// the row may be replaced without having been read.
    func open(_ row: SealedSession?) async throws -> Result<StoredSession, TokenStoreError> {
        guard let row else { return .success(.empty) }
        guard row.format <= SealedSession.currentVersion else {
            let remedy = "update this program, or remove the row with SQL"
            throw TokenStoreError(
                .unsupportedVersion, reason: "the row has version \(row.format) of the format; \(remedy)")
        }
        switch row.content {
        case .tombstone(let data): return try openTombstone(data)
        case .tokens(let session, let generation, let ciphertext):
            if let bundle = try await open(ciphertext, session: session, generation: generation) {
                return .success(.active(bundle))
            }
            guard replacesUnreadableRows else { throw TokenStoreError.keyDoesNotFit }
            return .failure(TokenStoreError(.corrupt, reason: TokenStoreError.keyDoesNotFit.reason))
        }
    }

    private func seal(_ bundle: TokenBundle) async throws -> SealedSession {
        let generation = Int64(bundle.generation)
        let session = bundle.session.rawValue
        let plaintext = try TokenEnvelope.encode(.active(bundle))
        let label = SealedSession.associatedData(account: account, session: session, generation: generation)
        let ciphertext = try await attempt { try await cipher.seal(plaintext, authenticating: label) }
        guard let ciphertext else {
            throw TokenStoreError(.unavailable, reason: "the token cipher could not seal the tokens")
        }
        guard ciphertext.count <= SealedSession.sizeLimit else {
            throw TokenStoreError(.unavailable, reason: "the bundle is larger than \(SealedSession.sizeLimit) bytes")
        }
        return SealedSession(
            format: SealedSession.currentVersion,
            content: .tokens(session: session, generation: generation, ciphertext: ciphertext))
    }

    /// Returns `nil` when the bytes do not open with this key, or are not the tokens that the row names.
    private func open(_ ciphertext: Data, session: String, generation: Int64) async throws -> TokenBundle? {
        let label = SealedSession.associatedData(account: account, session: session, generation: generation)
        guard let plaintext = try await attempt({ try await cipher.open(ciphertext, authenticating: label) }) else {
            return nil
        }
        do throws(TokenStoreError) {
            let bundle = try TokenEnvelope.decode(plaintext).bundle
            return bundle?.generation == Int(generation) && bundle?.session.rawValue == session ? bundle : nil
        } catch {
            guard error.code == .corrupt else { throw error }
            return nil
        }
    }

    private func openTombstone(_ data: Data) throws(TokenStoreError) -> Result<StoredSession, TokenStoreError> {
        do throws(TokenStoreError) {
            let session = try TokenEnvelope.decode(data)
            guard case .tombstone = session else { throw TokenStoreError(.corrupt, reason: "the row has no tombstone") }
            return .success(session)
        } catch {
            guard error.code == .corrupt else { throw error }
            return .failure(error)
        }
    }

    /// Runs the cipher for ``limit`` at most. Returns `nil` when it fails with another error than one of a store.
    private func attempt(_ work: @escaping @Sendable () async throws -> Data) async throws -> Data? {
        do {
            if let data = try await clock.withDeadline(clock.uptime + limit, work) { return data }
        } catch  where !(error is TokenStoreError || error is CancellationError) {
            return nil
        }
        throw TokenStoreError(.unavailable, reason: "the token cipher took longer than \(limit.inWords)")
    }
}

extension TokenStoreError {
    /// A row that this process cannot open. Another process of the fleet may: it is kept.
    static let keyDoesNotFit = TokenStoreError(
        .unavailable,
        reason: "the cipher cannot decrypt the account's row with this key; the row is unchanged: check the key")
}

/// The content of a row: encrypted tokens with their session and generation, or an unencrypted tombstone.
struct SealedSession: Sendable, Equatable {
    enum Content: Sendable, Equatable {
        case tokens(session: String, generation: Int64, ciphertext: Data)

        /// It holds no token, so that a process without the key can read it.
        case tombstone(Data)
    }

    /// The version of the format of a row.
    static let currentVersion: Int64 = 2

    /// The size limit of the content, for reading and writing: 1 MB. A bundle has a few kilobytes.
    static let sizeLimit = 1 << 20

    let format: Int64
    let content: Content

    /// The data that the cipher authenticates. The length of the session makes the encoding unambiguous.
    static func associatedData(account: String, session: String, generation: Int64) -> Data {
        Data("latchkey-tokens/\(currentVersion)/\(generation)/\(session.utf8.count)/\(session)/\(account)".utf8)
    }
}
#endif
