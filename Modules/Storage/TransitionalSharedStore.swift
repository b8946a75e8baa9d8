public import AuthInterface

/// A shared store that does not yet read, decide and write in one step.
public protocol TransitionalSharedStore: SharedTokenStore {}

extension TransitionalSharedStore {
    public func read() async throws -> StoredSession {
        try await load().map { .active($0) } ?? .empty
    }

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

    public var changes: AsyncStream<Void> { AsyncStream { $0.finish() } }
}
