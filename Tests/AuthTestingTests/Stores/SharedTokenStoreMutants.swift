import AuthInterface
import AuthTesting
import ConcurrencyPrimitives

extension Mutant {
    /// Stores that each break a rule of ``SharedTokenStoreContract``.
    static let sharedTokenStores = using + excluding + waiting + guarding + updating + corruption + ending + reporting

    private static let oneHolder = "G13: a lease has one holder at a time; a waiter gets `busy` after its limit"
    private static let quietErrors = "G17: no error of a store with a held lease shows a token, nor does the lease"

    private static let unknownLease =
        "G13: an intent under a lease that is not known to have ended may be a call in progress"

    private static let using = [
        Mutant("a free lease is taken immediately, with a limit of zero too", by: "a limit read before the lock") {
            $0.onLease = { store, limit in
                guard limit > .zero else { throw TokenStoreError(.busy, reason: "no time left") }
                return try await store.leaseProperly(limit)
            }
        },
        Mutant(
            "a store whose lease is held can be read and written without a lease",
            by: "a save that takes the lease"
        ) { store in
            store.onSave = { store, bundle in
                let lease = try await store.storage.lease(waitingAtMost: .zero)
                try await store.saveProperly(bundle)
                await lease.release()
            }
        },
    ]

    private static let excluding = [
        Mutant(oneHolder, by: "a lease that excludes no other") {
            $0.onLease = { _, _ in AlteredLease(base: OpenLease()) }
        },
        Mutant("read, change and save under a lease loses no change of another holder", by: "a lease for every caller")
        {
            $0.onLease = { _, _ in AlteredLease(base: OpenLease()) }
            $0.onSave = { store, bundle in await store.storage.save(bundle) }
        },
        Mutant(oneHolder, by: "a lock in the store object instead of the storage") { store in
            store.onReopen = { old in
                var new = old
                let lock = RecordingTokenStore()
                new.onLease = { AlteredLease(base: try await lock.lease(waitingAtMost: $1)) }
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
        Mutant("a second release of a lease does not release the next holder's", by: "a lock without an owner") {
            let current = Locked<(any TokenStoreLease)?>(nil)
            $0.onLease = { store, limit in
                try await store.leaseProperly(limit) { lease in
                    current.withLock { $0 = lease.base }
                    lease.onRelease = { _ in await current.withLock { $0 }?.release() }
                }
            }
        },
        Mutant(
            "after a release, the next holder sees that this process has no call in progress",
            by: "a lease that does not know the last holder"
        ) { store in
            store.onLease = { store, limit in
                try await store.leaseProperly(limit) { $0.onMayStillCall = { _, _ in true } }
            }
        },
        Mutant(unknownLease, by: "a lease that takes every earlier one for ended") { store in
            store.onLease = { store, limit in
                try await store.leaseProperly(limit) { $0.onMayStillCall = { _, _ in false } }
            }
        },
        Mutant(unknownLease, by: "a lease that takes an intent without a lease for ended") { store in
            store.onLease = { store, limit in
                try await store.leaseProperly(limit) {
                    $0.onMayStillCall = { $1.lease != nil && $0.base.mayStillCall($1) }
                }
            }
        },
    ]

    private static let waiting = [
        Mutant("a held lease is not lost while another process waits for it", by: "a lease that is lost to any waiter")
        {
            let wasRefused = Locked(false)
            $0.onLease = { store, limit in
                do {
                    return try await store.leaseProperly(limit) { $0.onIsLost = { _ in wasRefused.withLock { $0 } } }
                } catch {
                    wasRefused.withLock { $0 = true }
                    throw error
                }
            }
        },
        Mutant("after a release, a waiter gets the lease", by: "a release that does nothing") { store in
            let kept = Locked<[any TokenStoreLease]>([])
            store.onLease = { store, limit in
                var lease = try await store.leaseProperly(limit)
                lease.onRelease = { lease in kept.withLock { $0.append(lease.base) } }
                return lease
            }
        },
        Mutant(
            "a waiter whose limit has passed does not get the lease later",
            by: "a waiter that stays in the queue"
        ) {
            let (kept, hasStaleWaiter) = (Locked<[any TokenStoreLease]>([]), Locked(false))
            $0.onLease = { store, limit in
                do {
                    var lease = try await store.leaseProperly(limit)
                    lease.onRelease = { lease in
                        if hasStaleWaiter.withLock({ $0 }) { return kept.withLock { $0.append(lease.base) } }
                        await lease.base.release()
                    }
                    return lease
                } catch {
                    hasStaleWaiter.withLock { $0 = true }
                    throw error
                }
            }
        },
        Mutant(
            "a cancelled waiter throws CancellationError and does not get the lease",
            by: "a wait that ignores cancellation"
        ) {
            $0.onLease = { store, limit in
                try await Task { try await store.leaseProperly(min(limit, .milliseconds(200))) }.value
            }
        },
    ]

    private static let guarding = [
        Mutant("G13: a saved bundle does not replace a later one of its session", by: "the last save wins") { store in
            store.onSave = { store, bundle in await store.storage.save(bundle) }
        },
        Mutant("G13: a saved bundle does not replace a later one of its session", by: "a silent refusal") { store in
            store.onSave = { store, bundle in try? await store.saveProperly(bundle) }
        },
        Mutant(quietErrors, by: "a busy store that quotes its content") { store in
            store.onLease = { store, limit in
                do {
                    return try await store.leaseProperly(limit)
                } catch let error as TokenStoreError {
                    throw TokenStoreError(error.code, reason: "held with \(store.storage.bundle?.accessToken ?? "")")
                }
            }
        },
        Mutant(quietErrors, by: "a lease that shows a token") { store in
            store.onLease = { store, limit in
                try await store.leaseProperly(limit) { $0.shown = "a lease of contract-access-1" }
            }
        },
    ]
}

/// The lease of a store that excludes no other holder.
private struct OpenLease: TokenStoreLease {
    let identity: String? = nil
    let isLost = false
    func mayStillCall(_ intent: RefreshIntent) -> Bool { false }
    func release() async {}
}
