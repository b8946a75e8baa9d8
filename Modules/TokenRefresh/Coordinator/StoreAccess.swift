import AuthInterface
import ConcurrencyPrimitives

/// Runs the reads and writes of the machine.
struct StoreAccess: Sendable {
    let store: any TokenStore
    /// The store, if processes share it. Kept: each request looks at it, and finding out takes long.
    let shared: (any SharedTokenStore)?
    /// Whether a session has a token from its beginning: a refresh would spend one.
    private let needsToken: Bool

    init(store: any TokenStore, needsToken: Bool = true) {
        self.store = store
        self.needsToken = needsToken
        shared = store as? any SharedTokenStore
    }

    func read() async -> StoreResult {
        do {
            if let shared { return usable(.success(try await shared.read())) }
            return usable(.success(try await store.load().map { .active($0) } ?? .empty))
        } catch {
            return .failure(.wrapping(error))
        }
    }

    /// The content. A bundle that no process can use counts as unreadable.
    private func usable(_ found: StoreResult) -> StoreResult {
        guard case .success(.active(let bundle)) = found, !bundle.isUsable(needsToken: needsToken) else { return found }
        return .failure(.unusableBundle)
    }

    func write(_ content: StoreContent) async -> WriteOutcome {
        do {
            do {
                if let shared { return try await update(shared, with: content) }
                return try await overwrite(with: content)
            } catch let error as TokenStoreError where error.code == .superseded {
                // The store itself has found a newer bundle.
                return .superseded(by: try await read().get())
            } catch let error as TokenStoreError where content.mayDelete(despite: error) {
                try await store.delete()
                // Why it has ended, for the other processes.
                if let shared, let outcome = try? await update(shared, with: content) { return outcome }
                return .written(replaced: nil)
            } catch let error as TokenStoreError where content.bundle == nil && error.code == .unsupportedVersion {
                // G36: the session has ended, and what a later version has stored is not known to be of it.
                return .written(replaced: nil)
            }
        } catch {
            return .failed(.wrapping(error))
        }
    }

    /// Reads and writes in one step, so that nothing that another process has stored is lost.
    private func update(_ shared: any SharedTokenStore, with content: StoreContent) async throws -> WriteOutcome {
        let seen = Locked<(found: StoredSession, isReplaced: Bool)>((.empty, true))
        try await shared.update { found in
            let found = usable(found)
            let new = content.replacement(for: found)
            seen.withLock { $0 = ((try? found.get()) ?? .empty, new != nil) }
            return new
        }
        let (found, isReplaced) = seen.withLock { $0 }
        guard isReplaced else { return content.outcome(leaving: found) }
        return .written(replaced: found.bundle)
    }

    /// Writes to a store that only this process uses.
    private func overwrite(with content: StoreContent) async throws -> WriteOutcome {
        let removed: TokenBundle? = if content.mayRemoveUnread { try? await store.load() } else { nil }
        if let bundle = content.bundle { try await store.save(bundle) } else { try await store.delete() }
        return .written(replaced: removed)
    }
}

extension StoreContent {
    /// Whether the end of a session may delete the content of a store that cannot be read: its permissions are
    /// insecure, or a later version wrote it and the user has asked for the end.
    fileprivate func mayDelete(despite error: TokenStoreError) -> Bool {
        guard case .tombstone(let reason, _, _) = self else { return false }
        switch (error.code, reason) {
        case (.insecure, _), (.unsupportedVersion, .byUser), (.unsupportedVersion, .application): return true
        default: return false
        }
    }
}

extension TokenStoreError {
    static let unusableBundle = TokenStoreError(.corrupt, reason: "the stored bundle has no usable token")

    /// Whether the store can be read, and its content cannot.
    var isLasting: Bool { [.corrupt, .insecure, .unsupportedVersion].contains(code) }

    /// A store or a source that hangs.
    static func noResponse(within limit: Duration) -> TokenStoreError {
        TokenStoreError(.unavailable, reason: "no response within \(limit.inWords)")
    }

    /// Wraps any other error of a store or a journal as `unavailable`.
    static func wrapping(_ error: any Error, of what: String = "store") -> TokenStoreError {
        error as? TokenStoreError
            ?? TokenStoreError(.unavailable, reason: "the \(what) failed with \(type(of: error))", cause: error)
    }
}
