import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import Foundation

/// A store that keeps every rule unless a test alters one of its calls.
struct AlteredTokenStore: SharedTokenStore, Alterable {
    var proper = ProperTokenStore()
    var shown = "AlteredTokenStore"

    var onLoad: @Sendable (Self) async throws -> TokenBundle? = { try await $0.proper.load() }
    var onSave: @Sendable (Self, TokenBundle) async throws -> Void = { try await $0.proper.save($1) }
    var onDelete: @Sendable (Self) async throws -> Void = { try await $0.proper.delete() }
    var onRead: @Sendable (Self) async throws -> StoredSession = { try await $0.proper.read() }
    var onUpdate: @Sendable (Self, @escaping StoreChange) async throws -> Void = { try await $0.proper.update($1) }
    var onChanges: @Sendable (Self) -> AsyncStream<Void> = { $0.proper.changes }
    var onLease: @Sendable (Self, Duration) async throws -> any TokenStoreLease = { try await $0.leaseProperly($1) }
    var onReopen: @Sendable (Self) async throws -> Self = { $0 }
    var onContents: @Sendable (Self) -> Data = { $0.proper.contents }

    var storage: RecordingTokenStore { proper.storage }
    var isUnavailable: Bool { proper.isUnavailable }

    func load() async throws -> TokenBundle? { try await onLoad(self) }
    func save(_ bundle: TokenBundle) async throws { try await onSave(self, bundle) }
    func delete() async throws { try await onDelete(self) }
    func read() async throws -> StoredSession { try await onRead(self) }
    func update(_ change: @escaping StoreChange) async throws { try await onUpdate(self, change) }
    var changes: AsyncStream<Void> { onChanges(self) }
    func lease(
        waitingAtMost limit: Duration, whileHeld report: @escaping @Sendable (LeaseHolder) -> Void
    ) async throws -> any TokenStoreLease { try await onLease(self, limit) }

    func leaseProperly(
        _ limit: Duration, _ alter: (inout AlteredLease) -> Void = { _ in }
    ) async throws -> AlteredLease {
        var lease = AlteredLease(base: try await proper.lease(waitingAtMost: limit))
        alter(&lease)
        return lease
    }
}

extension AlteredTokenStore: CustomStringConvertible {
    var description: String { shown }
}

/// A store that keeps every rule, and can be made unavailable or corrupt.
struct ProperTokenStore: SharedTokenStore {
    var storage = RecordingTokenStore()
    var isUnavailable = false

    private let isCorrupt = Locked(false)

    func read() async throws -> StoredSession {
        try checkIsAvailable()
        if isCorrupt.withLock({ $0 }) { throw Self.corrupt }
        return await storage.read()
    }

    func update(_ change: @escaping StoreChange) async throws {
        try checkIsAvailable()
        await storage.update { found in
            isCorrupt.withLock { isCorrupt in
                let new = change(isCorrupt ? .failure(Self.corrupt) : found)
                if new != nil { isCorrupt = false }
                return new
            }
        }
    }

    var changes: AsyncStream<Void> { storage.changes }

    func lease(
        waitingAtMost limit: Duration, whileHeld report: @escaping @Sendable (LeaseHolder) -> Void
    ) async throws -> any TokenStoreLease { try await storage.lease(waitingAtMost: limit) }

    func corrupt() { isCorrupt.withLock { $0 = true } }

    var contents: Data {
        let secrets = storage.bundle.map { [$0.accessToken, $0.refreshToken, $0.refreshIntent?.idempotencyKey] } ?? []
        return Data(secrets.compactMap(\.self).joined(separator: "\n").utf8)
    }

    private func checkIsAvailable() throws {
        if isUnavailable { throw TokenStoreError(.unavailable, reason: "the storage is missing") }
    }

    private static let corrupt = TokenStoreError(.corrupt, reason: "not a session")
}

struct AlteredLease: TokenStoreLease {
    let base: any TokenStoreLease
    var shown = "AlteredLease"

    var onMayStillCall: @Sendable (Self, RefreshIntent) -> Bool = { $0.base.mayStillCall($1) }
    var onIsLost: @Sendable (Self) -> Bool = { $0.base.isLost }
    var onRelease: @Sendable (Self) async -> Void = { await $0.base.release() }

    var identity: String? { base.identity }
    func mayStillCall(_ intent: RefreshIntent) -> Bool { onMayStillCall(self, intent) }
    var isLost: Bool { onIsLost(self) }
    func release() async { await onRelease(self) }
}

extension AlteredLease: CustomStringConvertible {
    var description: String { shown }
}
