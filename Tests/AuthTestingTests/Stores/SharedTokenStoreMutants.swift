import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import Foundation

/// Stores that each break a rule of ``SharedTokenStoreContract``.
enum SharedTokenStoreMutants {
    typealias Mutant = ContractMutant<AlteredTokenStore>

    static let all = leases + updates + endings

    private static let leases: [Mutant] = [
        Mutant("a free lease is taken immediately, with a limit of zero too", by: "a limit read first", \.onLease) {
            guard $1 > .zero else { throw TokenStoreError(.busy, reason: "no time left") }
            return try await $0.leaseProperly($1)
        },
        Mutant("a store whose lease is held can be read and written without a lease", by: "a save with it", \.onSave) {
            let lease = try await $0.storage.lease(waitingAtMost: .zero)
            try await $0.proper.save($1)
            await lease.release()
        },
        Mutant("G13: a lease has one holder at a time; a waiter gets `busy` after its limit", by: "an open lease") {
            $0.onLease = { _, _ in AlteredLease(base: OpenLease()) }
        },
        Mutant("read, change and save under a lease loses no change of another holder", by: "an open lease") {
            $0.onLease = { _, _ in AlteredLease(base: OpenLease()) }
            $0.onSave = { await $0.storage.save($1) }
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
        lease("after a release, the next holder sees that this process has no call in progress", by: "forgetting") {
            $0.onMayStillCall = { _, _ in true }
        },
        lease("G13: an intent under a lease that is not known to have ended may be a call in progress", by: "denial") {
            $0.onMayStillCall = { _, _ in false }
        },
        lease("a held lease is not lost while another process waits for it", by: "a lease that is lost") {
            $0.onIsLost = { _ in true }
        },
        Mutant("after a release, a waiter gets the lease", by: "a release that does nothing") {
            let kept = Locked<[any TokenStoreLease]>([])
            $0.onLease = { store, limit in
                try await store.leaseProperly(limit) { lease in
                    lease.onRelease = { lease in kept.withLock { $0.append(lease.base) } }
                }
            }
        },
        Mutant("a waiter whose limit has passed does not get the lease later", by: "a waiter that stays in the queue") {
            let (kept, hasStaleWaiter) = (Locked<[any TokenStoreLease]>([]), Locked(false))
            $0.onLease = { store, limit in
                do {
                    return try await store.leaseProperly(limit) { lease in
                        lease.onRelease = { lease in
                            if hasStaleWaiter.withLock({ $0 }) { return kept.withLock { $0.append(lease.base) } }
                            await lease.base.release()
                        }
                    }
                } catch {
                    hasStaleWaiter.withLock { $0 = true }
                    throw error
                }
            }
        },
        Mutant("a cancelled waiter throws CancellationError and does not get the lease", by: "ignoring it", \.onLease) {
            store, limit in
            try await Task { try await store.leaseProperly(min(limit, .milliseconds(200))) }.value
        },
        lease("G17: no error of a store with a held lease shows a token, nor does the lease", by: "a description") {
            $0.shown = "a lease of contract-access-1"
        },
    ]

    private static let updates: [Mutant] = [
        Mutant("G13: a saved bundle does not replace a later one of its session", by: "the last save wins", \.onSave) {
            await $0.storage.save($1)
        },
        update("an update is called with the content, and stores what it returns", by: "reading nothing") { _, change in
            change(.success(.empty))
        },
        Mutant("concurrent updates of two views lose none of each other's changes", by: "two steps", \.onUpdate) {
            let new = $1(.success(try await $0.proper.read()))
            for _ in 1...5 { await Task.yield() }
            try await $0.proper.update { _ in new }
        },
        Mutant("an update does not wait for the lease", by: "an update under the lease", \.onUpdate) { store, change in
            let lease = try await store.storage.lease(waitingAtMost: .seconds(3_600))
            try await store.proper.update(change)
            await lease.release()
        },
        update("an update that returns nil changes nothing", by: "storing nil as empty") { found, change in
            change(found) ?? .empty
        },
        Mutant(
            "content that is not a session makes a read throw `corrupt`, until it is replaced",
            by: "reading it as empty", \.onRead
        ) { (try? await $0.proper.read()) ?? .empty },
        update("an update is called with a failure for corrupt content, and replaces it", by: "empty instead") {
            found, change in
            if case .failure = found { change(.success(.empty)) } else { change(found) }
        },
    ]

    private static let endings: [Mutant] = [
        ending("forgets the reason") { SessionTombstone(session: $0.session, reason: .byUser, date: $0.date) },
        ending("forgets the date") {
            SessionTombstone(session: $0.session, reason: $0.reason, date: .distantPast, upTo: $0.ordinal)
        },
        ending("forgets the ordinal") { SessionTombstone(session: $0.session, reason: $0.reason, date: $0.date) },
        Mutant("an ended session leaves no token", by: "a file that only grows", \.onContents) { store in
            let saved = store.storage.events.compactMap { event in
                if case .save(let bundle) = event { bundle.accessToken } else { nil }
            }
            return Data(saved.joined().utf8)
        },
        Mutant("G9: a late save of an ended session is refused, and the ending stays", by: "the last save", \.onSave) {
            await $0.storage.save($1)
        },
        Mutant("the next sign-in replaces an ended session", by: "an ending that cannot be replaced", \.onSave) {
            if case .tombstone = $0.storage.content { throw TokenStoreError(.superseded, reason: "ended") }
            try await $0.proper.save($1)
        },
        Mutant("`changes` reports each write of another view after the access", by: "a store without reports") {
            let silent = RecordingTokenStore()
            $0.onChanges = { _ in silent.changes }
        },
        Mutant("each access to `changes` makes a new stream", by: "one stream for all") { store in
            let stream = Locked<AsyncStream<Void>?>(nil)
            store.onChanges = { store in
                stream.withLock { stream in
                    let one = stream ?? store.proper.changes
                    stream = one
                    return one
                }
            }
        },
    ]

    private static func lease(
        _ rule: String, by fault: String, _ alter: @escaping @Sendable (inout AlteredLease) -> Void
    ) -> Mutant {
        Mutant(rule, by: fault, \.onLease) { store, limit in try await store.leaseProperly(limit, alter) }
    }

    /// A store that alters the step of its updates.
    private static func update(
        _ rule: String, by fault: String,
        _ step: @escaping @Sendable (Result<StoredSession, TokenStoreError>, StoreChange) -> StoredSession?
    ) -> Mutant {
        Mutant(rule, by: fault, \.onUpdate) { store, change in try await store.proper.update { step($0, change) } }
    }

    /// A store that alters the endings that it reads.
    private static func ending(
        _ fault: String, _ alter: @escaping @Sendable (SessionTombstone) -> SessionTombstone
    ) -> Mutant {
        Mutant("G5: a tombstone is read as written, field by field, and load returns nil", by: fault, \.onRead) {
            let content = try await $0.proper.read()
            if case .tombstone(let tombstone) = content { return .tombstone(alter(tombstone)) }
            return content
        }
    }
}

/// The lease of a store that excludes no other holder.
private struct OpenLease: TokenStoreLease {
    let identity: String? = nil
    let isLost = false
    func mayStillCall(_ intent: RefreshIntent) -> Bool { false }
    func release() async {}
}
