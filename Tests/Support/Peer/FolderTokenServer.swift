import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// An authorization server in a folder that many processes share: it accepts each refresh token once, and one refresh
/// at a time.
///
/// `mkdir` is its transaction: of many processes that make a folder, one succeeds.
struct FolderTokenServer {
    let folder: URL

    /// Refreshes as the engine does: lease, read, intent, call, write, release.
    func refresh(_ store: any SharedTokenStore, times count: Int) async throws {
        for _ in 0..<count {
            let lease = try await store.lease(waitingAtMost: .seconds(3_600))
            guard let old = try await store.read().bundle else { throw PeerError(description: "signed out") }
            let intent = RefreshIntent(
                idempotencyKey: UUID().uuidString, owner: .current, date: Date(), lease: lease.identity)
            try await replace(old, by: old.with(refreshIntent: intent), in: store)
            let next = TokenBundle.large(try exchange(old))
            try await replace(old, by: next, in: store)
            await lease.release()
        }
        StandardIO.write("refreshed \(count)")
    }

    private func replace(_ old: TokenBundle, by new: TokenBundle, in store: any SharedTokenStore) async throws {
        let isDone = Locked(false)
        try await store.update { found in
            guard case .success(.active(let stored)) = found, stored.hasSameTokens(as: old) else { return nil }
            isDone.withLock { $0 = true }
            return .active(new)
        }
        guard isDone.withLock({ $0 }) else { throw PeerError(description: "the session changed under the lease") }
    }

    private func exchange(_ bundle: TokenBundle) throws -> Int {
        guard make("refreshing") else { throw PeerError(description: "two refreshes at once") }
        defer { rmdir(folder.appendingPathComponent("refreshing").path) }
        guard make("spent-\(bundle.generation)") else {
            throw PeerError(description: "refresh token \(bundle.generation) used again")
        }
        return bundle.generation + 1
    }

    private func make(_ name: String) -> Bool { mkdir(folder.appendingPathComponent(name).path, 0o700) == 0 }
}
