import AuthInterface
import AuthTesting
import Testing

/// A store that keeps every rule, until a test bends one of its calls.
struct BentTokenStore: SharedTokenStore {
    var place = RecordingTokenStore()
    var isUnavailable = false
    var shown = "BentTokenStore"

    var onLoad: @Sendable (Self) async throws -> TokenBundle? = { try await $0.loadProperly() }
    var onSave: @Sendable (Self, TokenBundle) async throws -> Void = { try await $0.saveProperly($1) }
    var onDelete: @Sendable (Self) async throws -> Void = { try await $0.deleteProperly() }
    var onLease: @Sendable (Self, Duration) async throws -> any TokenStoreLease = { try await $0.leaseProperly($1) }
    var onReopen: @Sendable (Self) async throws -> Self = { $0 }

    func load() async throws -> TokenBundle? { try await onLoad(self) }
    func save(_ bundle: TokenBundle) async throws { try await onSave(self, bundle) }
    func delete() async throws { try await onDelete(self) }
    func lease(waitingAtMost limit: Duration) async throws -> any TokenStoreLease { try await onLease(self, limit) }

    func loadProperly() async throws -> TokenBundle? {
        try checkIsAvailable()
        return await place.load()
    }

    func saveProperly(_ bundle: TokenBundle) async throws {
        try checkIsAvailable()
        if let stored = place.bundle, stored.session == bundle.session, stored.generation >= bundle.generation,
            stored != bundle
        {
            throw TokenStoreError(.init(rawValue: "superseded"), reason: "a later bundle is stored")
        }
        await place.save(bundle)
    }

    func deleteProperly() async throws {
        try checkIsAvailable()
        await place.delete()
    }

    func leaseProperly(_ limit: Duration) async throws -> BentLease {
        BentLease(store: self, base: try await place.lease(waitingAtMost: limit))
    }

    private func checkIsAvailable() throws {
        if isUnavailable { throw TokenStoreError(.unavailable, reason: "the place is gone") }
    }
}

extension BentTokenStore: CustomStringConvertible {
    var description: String { shown }
}

/// The lease of a ``BentTokenStore``.
struct BentLease: TokenStoreLease {
    let store: BentTokenStore
    let base: any TokenStoreLease
    var shown = "BentLease"

    var onSave: @Sendable (Self, TokenBundle) async throws -> Void = { try await $0.saveProperly($1) }
    var onDelete: @Sendable (Self) async throws -> Void = { try await $0.base.delete() }
    var onRelease: @Sendable (Self) async -> Void = { await $0.base.release() }

    func load() async throws -> TokenBundle? { try await base.load() }
    func save(_ bundle: TokenBundle) async throws { try await onSave(self, bundle) }
    func delete() async throws { try await onDelete(self) }
    func release() async { await onRelease(self) }

    func saveProperly(_ bundle: TokenBundle) async throws {
        _ = try await base.load()
        try await store.saveProperly(bundle)
    }
}

extension BentLease: CustomStringConvertible {
    var description: String { shown }
}

/// A way to break one rule.
struct Mutant: Sendable, CustomTestStringConvertible {
    let rule: String
    let fault: String
    let make: @Sendable () -> BentTokenStore

    init(_ rule: String, by fault: String, _ bend: @escaping @Sendable (inout BentTokenStore) -> Void) {
        self.rule = rule
        self.fault = fault
        make = {
            var store = BentTokenStore()
            bend(&store)
            return store
        }
    }

    var testDescription: String { fault }
}
