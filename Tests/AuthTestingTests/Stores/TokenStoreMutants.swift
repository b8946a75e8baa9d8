import AuthInterface
import AuthTesting
import Foundation

/// Stores that each break a rule of ``TokenStoreContract``.
enum TokenStoreMutants {
    typealias Mutant = ContractMutant<AlteredTokenStore>

    static let all = fields + texts + others

    /// Fields of a stored bundle, each of which a store forgets.
    private static let fields = [
        "refreshToken", "expiresAt", "clockSkew", "receivedAt", "signedInAt", "ordinal", "subject", "scope", "binding",
        "pendingRefresh", "pendingRefresh.firstDate", "pendingRefresh.longestCall", "pendingRefresh.lease",
        "pendingRefresh.failure", "pendingRefresh.failure.stepUp",
    ].map { fieldwise($0) { _ in nil } }

    private static let texts = [
        fieldwise("expiresAt", by: "keeping whole seconds of") { ($0 as? Double)?.rounded(.down) },
        fieldwise("generation", by: "resetting") { _ in 0 },
        fieldwise("accessToken", by: "cutting") { ($0 as? String).map { String($0.prefix(4_096)) } },
        fieldwise("accessToken", by: "composing") { ($0 as? String)?.precomposedStringWithCanonicalMapping },
        fieldwise("refreshToken", by: "decomposing") { ($0 as? String)?.decomposedStringWithCanonicalMapping },
        fieldwise("pendingRefresh.idempotencyKey", by: "composing") {
            ($0 as? String)?.precomposedStringWithCanonicalMapping
        },
        fieldwise("refreshToken", by: "dropping an empty") { ($0 as? String)?.isEmpty == true ? nil : $0 },
    ]

    private static let others: [Mutant] = [
        Mutant("an empty store returns no bundle", by: "an empty store that returns an empty bundle", \.onLoad) {
            try await $0.proper.load() ?? TokenBundle(accessToken: "", refreshToken: nil)
        },
        Mutant("loading changes nothing", by: "a store that returns its bundle once", \.onLoad) { store in
            let bundle = try await store.proper.load()
            await store.storage.delete()
            return bundle
        },
        Mutant(
            "G17: no description or dump of the store shows a token", by: "a description with a token", \.shown,
            "holds contract-access-1"),
        Mutant("a save replaces what was saved before", by: "a store that ignores a duplicate", \.onSave) {
            if $0.storage.bundle == nil { try await $0.proper.save($1) }
        },
        Mutant("the same bundle can be saved twice", by: "a store that refuses a duplicate", \.onSave) {
            if $0.storage.bundle == $1 { throw TokenStoreError(.unavailable, reason: "duplicate item") }
            try await $0.proper.save($1)
        },
        Mutant("a deleted bundle is gone", by: "a store that deletes nothing", \.onDelete) { _ in },
        Mutant("deleting nothing, or twice, is no error", by: "a store that fails to delete nothing", \.onDelete) {
            if $0.storage.bundle == nil { throw TokenStoreError(.unavailable, reason: "item not found") }
            try await $0.proper.delete()
        },
        Mutant("a bundle can be saved after a delete", by: "a store that stays deleted", \.onSave) {
            if !$0.storage.events.contains(.delete) { try await $0.proper.save($1) }
        },
        Mutant("concurrent saves leave one of the bundles, whole", by: "a store that keeps two items", \.onSave) {
            store, bundle in
            let mixed = TokenBundle(
                accessToken: bundle.accessToken, refreshToken: store.storage.bundle?.refreshToken,
                session: bundle.session, generation: bundle.generation)
            await store.storage.save(mixed)
            for _ in 1...5 { await Task.yield() }
            await store.storage.save(bundle)
        },
        Mutant(
            "G12: a save whose task is cancelled leaves the old bundle or the new one", by: "deleting first", \.onSave
        ) {
            await $0.storage.delete()
            try Task.checkCancellation()
            await $0.storage.save($1)
        },
        Mutant(
            "a second store over the same storage reads what the first has written", by: "a store that caches",
            \.onReopen
        ) { old in
            var new = old
            let cached = old.storage.bundle
            new.onLoad = { _ in cached }
            return new
        },
        Mutant("G14: an unavailable store throws; it does not return nil", by: "`try?` in load", \.onLoad) {
            try? await $0.proper.load()
        },
        Mutant("a save or delete that fails throws", by: "`try?` in save", \.onSave) {
            try? await $0.proper.save($1)
        },
        Mutant("G17: no error shows a token", by: "an error that quotes the bundle", \.onSave) { store, bundle in
            guard store.isUnavailable else { return try await store.proper.save(bundle) }
            throw TokenStoreError(.unavailable, reason: "could not write \(bundle.accessToken)")
        },
    ]

    /// A store that changes a coded field of the bundles that it loads; `nil` removes it.
    static func fieldwise(
        _ path: String, by fault: String = "forgetting", _ change: @escaping @Sendable (Any) -> Any?
    ) -> Mutant {
        Mutant("what is saved is loaded again, field by field", by: "\(fault) \(path)", \.onLoad) { store in
            guard let bundle = try await store.proper.load() else { return nil }
            let fields = try JSONSerialization.jsonObject(with: JSONEncoder().encode(bundle))
            let names = path.split(separator: ".").map(String.init)
            let changed = changing(names[...], of: fields, change) ?? [String: Any]()
            let data = try JSONSerialization.data(withJSONObject: changed)
            return try JSONDecoder().decode(TokenBundle.self, from: data)
        }
    }

    private static func changing(_ path: ArraySlice<String>, of value: Any, _ change: (Any) -> Any?) -> Any? {
        guard let name = path.first else { return change(value) }
        guard var fields = value as? [String: Any], let field = fields[name] else { return value }
        fields[name] = changing(path.dropFirst(), of: field, change)
        return fields
    }
}
