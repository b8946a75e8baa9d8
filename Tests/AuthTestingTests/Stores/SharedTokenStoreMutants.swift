import AuthInterface
import AuthTesting

extension Mutant {
    /// Stores that each break a rule of ``SharedTokenStoreContract``.
    static let sharedTokenStores = using + excluding + waiting + guarding

    private static let oneHolder = "G13: one holder at a time; who has waited long enough is told so with `busy`"

    private static let using = [
        Mutant("a lease reads and writes the store", by: "a lease with a copy of its own") { store in
            store.onLease = { store, limit in
                let copy = BentTokenStore(place: RecordingTokenStore(holding: store.place.bundle))
                return try await copy.leaseProperly(limit)
            }
        },
        Mutant("a free store is had at once, even by one who would not wait", by: "a limit read before the lock") {
            $0.onLease = { store, limit in
                guard limit > .zero else { throw TokenStoreError(.busy, reason: "no time left") }
                return try await store.leaseProperly(limit)
            }
        },
        Mutant(
            "a held store can be read and written by those who do not ask for a lease",
            by: "a save that takes the lease"
        ) { store in
            store.onSave = { store, bundle in
                let lease = try await store.place.lease(waitingAtMost: .zero)
                try await store.saveProperly(bundle)
                await lease.release()
            }
        },
    ]

    private static let excluding = [
        Mutant(oneHolder, by: "a lease that excludes nobody") {
            $0.onLease = { store, _ in BentLease(store: store, base: OpenLease(place: store.place)) }
        },
        Mutant("read, change and save under a lease loses no change of another holder", by: "leases for all") {
            $0.onLease = { store, _ in BentLease(store: store, base: OpenLease(place: store.place)) }
            $0.onSave = { store, bundle in await store.place.save(bundle) }
        },
        Mutant(oneHolder, by: "a lock in the store object instead of the place") { store in
            store.onReopen = { old in
                var new = old
                let lock = RecordingTokenStore()
                new.onLease = { BentLease(store: $0, base: try await lock.lease(waitingAtMost: $1)) }
                return new
            }
        },
        Mutant(oneHolder, by: "a wait that ends with `unavailable`") { store in
            store.onLease = { store, limit in
                do {
                    return try await store.leaseProperly(limit)
                } catch is TokenStoreError {
                    throw TokenStoreError(.unavailable, reason: "no lease")
                }
            }
        },
        Mutant("a lease that was released twice does not let go of the next holder's", by: "a lock without an owner") {
            let current = Locked<(any TokenStoreLease)?>(nil)
            $0.onLease = { store, limit in
                var lease = try await store.leaseProperly(limit)
                let base = lease.base
                current.withLock { $0 = base }
                lease.onRelease = { _ in await current.withLock { $0 }?.release() }
                return lease
            }
        },
    ]

    private static let waiting = [
        Mutant("a release lets the next one in", by: "a release that forgets to") { store in
            let kept = Locked<[any TokenStoreLease]>([])
            store.onLease = { store, limit in
                var lease = try await store.leaseProperly(limit)
                lease.onRelease = { lease in kept.withLock { $0.append(lease.base) } }
                return lease
            }
        },
        Mutant("a waiter that gave up is not handed the store later", by: "a place in line that is not given up") {
            let (kept, hasGhost) = (Locked<[any TokenStoreLease]>([]), Locked(false))
            $0.onLease = { store, limit in
                do {
                    var lease = try await store.leaseProperly(limit)
                    lease.onRelease = { lease in
                        if hasGhost.withLock({ $0 }) { return kept.withLock { $0.append(lease.base) } }
                        await lease.base.release()
                    }
                    return lease
                } catch {
                    hasGhost.withLock { $0 = true }
                    throw error
                }
            }
        },
        Mutant("a cancelled waiter throws CancellationError and does not take the store", by: "a wait that is deaf") {
            $0.onLease = { store, limit in
                try await Task { try await store.leaseProperly(min(limit, .milliseconds(200))) }.value
            }
        },
    ]

    private static let guarding = [
        Mutant("a released lease writes nothing", by: "a lease that goes on writing") { store in
            store.onLease = { store, limit in
                var lease = try await store.leaseProperly(limit)
                lease.onSave = { lease, bundle in try await lease.store.saveProperly(bundle) }
                return lease
            }
        },
        Mutant("a released lease writes nothing", by: "a lease that goes on deleting") { store in
            store.onLease = { store, limit in
                var lease = try await store.leaseProperly(limit)
                lease.onDelete = { lease in try await lease.store.deleteProperly() }
                return lease
            }
        },
        Mutant("G13: a bundle does not replace a later one of its session", by: "the last save wins") { store in
            store.onSave = { store, bundle in await store.place.save(bundle) }
        },
        Mutant("G13: a bundle does not replace a later one of its session", by: "a silent refusal") { store in
            store.onSave = { store, bundle in try? await store.saveProperly(bundle) }
        },
        Mutant("G17: no error of a held store shows a token", by: "a busy store that says with what") { store in
            store.onLease = { store, limit in
                do {
                    return try await store.leaseProperly(limit)
                } catch let error as TokenStoreError {
                    throw TokenStoreError(error.code, reason: "held with \(store.place.bundle?.accessToken ?? "")")
                }
            }
        },
        Mutant("G17: no error of a held store shows a token", by: "a talkative lease") { store in
            store.onLease = { store, limit in
                var lease = try await store.leaseProperly(limit)
                lease.shown = "a lease of contract-access-1"
                return lease
            }
        },
    ]
}

/// The lease of a store that excludes nobody.
private struct OpenLease: TokenStoreLease {
    let place: RecordingTokenStore

    func load() async throws -> TokenBundle? { await place.load() }
    func save(_ bundle: TokenBundle) async throws { await place.save(bundle) }
    func delete() async throws { await place.delete() }
    func release() async {}
}
