public import AuthInterface
import Foundation

/// A shared store that does not yet read, decide and write in one step.
public protocol TransitionalSharedStore: SharedTokenStore {}

extension TransitionalSharedStore {
    /// Reads what is stored, as far as ``TokenStore/load()`` says.
    public func read() async throws -> StoredSession {
        try await load().map { .active($0) } ?? .empty
    }

    /// Loads, decides and writes, in three steps.
    public func update(
        _ change: @escaping @Sendable (Result<StoredSession, TokenStoreError>) -> StoredSession?
    ) async throws {
        let found: Result<StoredSession, TokenStoreError>
        do {
            found = .success(try await read())
        } catch let error as TokenStoreError where error.code == .corrupt {
            found = .failure(error)
        }
        switch change(found) {
        case .active(let bundle): try await save(bundle)
        case .empty, .ended: try await delete()
        case nil: break
        }
    }

    /// A stream that has ended: the store cannot watch.
    public var changes: AsyncStream<Void> { AsyncStream { $0.finish() } }
}

/// The envelope as stores of the transitional protocol use it.
extension TokenEnvelope {
    enum Reading {
        case bundle(TokenBundle)
        case unreadable
        case newer(version: Int)
    }

    func encode(_ bundle: TokenBundle) throws(TokenStoreError) -> Data {
        try encode(StoredSession.active(bundle))
    }

    func decode(_ data: Data) -> Reading {
        do {
            let session: StoredSession = try decode(data)
            return session.bundle.map { .bundle($0) } ?? .unreadable
        } catch {
            return error.code == .unsupportedVersion ? .newer(version: Self.currentVersion + 1) : .unreadable
        }
    }
}

extension LockedTokenStoreLease {
    convenience init(store: any TokenStore, lock: FolderLock) {
        self.init(lock: lock)
    }
}
