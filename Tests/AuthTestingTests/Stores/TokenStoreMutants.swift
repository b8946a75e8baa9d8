import AuthInterface
import AuthTesting
import Foundation

extension Mutant {
    /// Stores that each break a rule of ``TokenStoreContract``.
    static let tokenStores = reading + writing + concurrency + storage

    private static let reading = [
        Mutant("an empty store returns no bundle", by: "an empty store that returns an empty bundle") { store in
            store.onLoad = { try await $0.loadProperly() ?? TokenBundle(accessToken: "", refreshToken: nil) }
        },
        fieldwise("drops the refresh token") { TokenBundle(copying: $0, refreshToken: .some(nil)) },
        fieldwise("invents an expiry") { TokenBundle(copying: $0, expiresAt: $0.expiresAt ?? .distantFuture) },
        fieldwise("keeps whole seconds") { bundle in
            let seconds = bundle.expiresAt?.timeIntervalSince1970.rounded(.down)
            return TokenBundle(copying: bundle, expiresAt: seconds.map(Date.init(timeIntervalSince1970:)))
        },
        fieldwise("forgets the clock's skew") { TokenBundle(copying: $0, clockSkew: 0) },
        fieldwise("invents a session") { TokenBundle(copying: $0, session: SessionID()) },
        fieldwise("forgets when the token was received") { TokenBundle(copying: $0, receivedAt: .some(nil)) },
        fieldwise("forgets the pending refresh") { $0.with(refreshIntent: nil) },
        intentwise("forgets that a refresh was abandoned") { $0.isAbandoned = false },
        intentwise("forgets the first date of a pending refresh") { $0.firstDate = nil },
        intentwise("forgets the limit of a pending refresh") { $0.longestCall = nil },
        intentwise("forgets the lease of a pending refresh") { $0.lease = nil },
        intentwise("forgets how a refresh failed") { $0.failure = nil },
        intentwise("forgets how often a refresh failed") { $0.failure?.count = 1 },
        intentwise("makes a new key for a pending refresh") { $0.idempotencyKey = "" },
        fieldwise("forgets when the session was signed in") { TokenBundle(copying: $0, signedInAt: .some(nil)) },
        fieldwise("forgets the generation") { TokenBundle(copying: $0, generation: 0) },
        fieldwise("forgets the ordinal") { TokenBundle(copying: $0, ordinal: .some(nil)) },
        fieldwise("cuts tokens at 4 KB") { bundle in
            TokenBundle(copying: bundle, accessToken: String(bundle.accessToken.prefix(4_096)))
        },
        fieldwise("composes accents of refresh tokens") { bundle in
            TokenBundle(copying: bundle, refreshToken: bundle.refreshToken?.precomposedStringWithCanonicalMapping)
        },
        fieldwise("composes accents of access tokens") { bundle in
            TokenBundle(copying: bundle, accessToken: bundle.accessToken.precomposedStringWithCanonicalMapping)
        },
        fieldwise("decomposes accents of access tokens") { bundle in
            TokenBundle(copying: bundle, accessToken: bundle.accessToken.decomposedStringWithCanonicalMapping)
        },
        fieldwise("composes accents of sessions") { bundle in
            let session = bundle.session.rawValue.precomposedStringWithCanonicalMapping
            return TokenBundle(copying: bundle, session: SessionID(rawValue: session))
        },
        intentwise("composes accents of keys") { intent in
            intent.idempotencyKey = intent.idempotencyKey.precomposedStringWithCanonicalMapping
        },
        fieldwise("loads an empty refresh token as nil") { bundle in
            TokenBundle(copying: bundle, refreshToken: bundle.refreshToken.flatMap { $0.isEmpty ? nil : $0 })
        },
        Mutant("loading changes nothing", by: "a store that returns its bundle once") { store in
            store.onLoad = { store in
                let bundle = try await store.loadProperly()
                await store.storage.delete()
                return bundle
            }
        },
        Mutant("G17: no description or dump of the store shows a token", by: "a description with a token") { store in
            store.shown = "holds contract-access-1"
        },
    ]

    private static let writing = [
        Mutant("a save replaces what was saved before", by: "a store that ignores a duplicate") { store in
            store.onSave = { if $0.storage.bundle == nil { try await $0.saveProperly($1) } }
        },
        Mutant("the same bundle can be saved twice", by: "a store that refuses a duplicate") { store in
            store.onSave = { store, bundle in
                if store.storage.bundle == bundle { throw TokenStoreError(.unavailable, reason: "duplicate item") }
                try await store.saveProperly(bundle)
            }
        },
        Mutant("a deleted bundle is gone", by: "a store that deletes nothing") { $0.onDelete = { _ in } },
        Mutant("deleting nothing, or twice, is no error", by: "a store that fails to delete nothing") { store in
            store.onDelete = { store in
                if store.storage.bundle == nil { throw TokenStoreError(.unavailable, reason: "item not found") }
                try await store.deleteProperly()
            }
        },
        Mutant("a bundle can be saved after a delete", by: "a store that stays deleted") { store in
            store.onSave = { if !$0.storage.events.contains(.delete) { try await $0.saveProperly($1) } }
        },
    ]

    private static let concurrency = [
        Mutant("concurrent saves leave one of the bundles, whole", by: "a store that keeps two items") { store in
            store.onSave = { store, bundle in
                await store.storage.save(TokenBundle(copying: bundle, refreshToken: store.storage.bundle?.refreshToken))
                for _ in 1...5 { await Task.yield() }
                await store.storage.save(bundle)
            }
        },
        Mutant(
            "G12: a save whose task is cancelled leaves the old bundle or the new one",
            by: "a store that deletes, then adds"
        ) { store in
            store.onSave = { store, bundle in
                await store.storage.delete()
                try Task.checkCancellation()
                await store.storage.save(bundle)
            }
        },
    ]

    private static let storage = [
        Mutant("a second store over the same storage reads what the first has written", by: "a store that caches") {
            store in
            store.onReopen = { old in
                var new = old
                let cached = old.storage.bundle
                new.onLoad = { _ in cached }
                return new
            }
        },
        Mutant("G14: an unavailable store throws; it does not return nil", by: "`try?` in load") { store in
            store.onLoad = { try? await $0.loadProperly() }
        },
        Mutant("a save or delete that fails throws", by: "`try?` in save") { store in
            store.onSave = { try? await $0.saveProperly($1) }
        },
        Mutant("a save or delete that fails throws", by: "`try?` in delete") { store in
            store.onDelete = { try? await $0.deleteProperly() }
        },
        Mutant("G17: no error shows a token", by: "an error that quotes the bundle") { store in
            store.onSave = { store, bundle in
                guard store.isUnavailable else { return try await store.saveProperly(bundle) }
                throw TokenStoreError(.unavailable, reason: "could not write \(bundle.accessToken)")
            }
        },
    ]

    private static func fieldwise(_ fault: String, _ alter: @escaping @Sendable (TokenBundle) -> TokenBundle) -> Mutant
    {
        Mutant("what is saved is loaded again, field by field", by: "a store that \(fault)") { store in
            store.onLoad = { try await $0.loadProperly().map(alter) }
        }
    }

    private static func intentwise(
        _ fault: String, _ alter: @escaping @Sendable (inout RefreshIntent) -> Void
    ) -> Mutant {
        fieldwise(fault) { bundle in
            guard var intent = bundle.refreshIntent else { return bundle }
            alter(&intent)
            return bundle.with(refreshIntent: intent)
        }
    }
}

extension TokenBundle {
    /// A bundle with some fields changed.
    fileprivate init(
        copying bundle: TokenBundle,
        accessToken: String? = nil,
        refreshToken: String?? = nil,
        expiresAt: Date?? = nil,
        clockSkew: TimeInterval? = nil,
        session: SessionID? = nil,
        generation: Int? = nil,
        receivedAt: Date?? = nil,
        signedInAt: Date?? = nil,
        ordinal: SessionOrdinal?? = nil
    ) {
        self.init(
            accessToken: accessToken ?? bundle.accessToken,
            refreshToken: refreshToken ?? bundle.refreshToken,
            expiresAt: expiresAt ?? bundle.expiresAt,
            clockSkew: clockSkew ?? bundle.clockSkew,
            session: session ?? bundle.session,
            generation: generation ?? bundle.generation,
            receivedAt: receivedAt ?? bundle.receivedAt,
            refreshIntent: bundle.refreshIntent,
            signedInAt: signedInAt ?? bundle.signedInAt,
            binding: bundle.binding,
            subject: bundle.subject,
            scope: bundle.scope,
            ordinal: ordinal ?? bundle.storedOrdinal
        )
    }
}
