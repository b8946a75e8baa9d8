import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import TestSupport
import Testing

@testable import TokenRefresh

/// G9, G29, G30: ends that the store has not taken, in the processes after it and beside it.
@Suite(.timeLimit(.minutes(10))) struct JournaledEndTests {
    private let place = JournaledPlace()

    @Test(arguments: Bench.StoreKind.allCases)
    func `EG1, G30: a sign-out before the first read survives the process`(kind: Bench.StoreKind) async throws {
        _ = try await place.signedIn(kind)
        let process = place.start(kind)
        for operation in [StoreOperation.load, .delete] { process.store.fail(operation) }
        try await process.engine.signOut()
        #expect(process.engine.state == .signedOut(.byUser) && process.engine.status.isSignOutPending)
        #expect(try await place.start(kind).engine.restore() == .signedOut(.byUser))
    }

    @Test func `SE5: a sign-out that only the journal took ends the other processes, too`() async throws {
        let process = try await place.signedIn(.shared)
        let other = place.start(.shared)
        #expect(try await other.engine.restore() == process.engine.state)
        process.store.fail(.delete)
        try await process.engine.signOut()
        try await until { other.engine.state == .signedOut(.byUser) }
        #expect(await other.engine.settle())
        #expect(place.stored == nil && place.journal.entry.pending == nil && other.events.count("signedOut") == 1)
    }

    @Test func `SE1: a write that finds a session which is to end does not follow it`() async throws {
        let ada = TokenBundle.stored("ada", 1, ordinal: .second(5))
        let bob = TokenBundle.stored("bob", 0, ordinal: .second(9))
        let end = PendingSignOut(upTo: bob.ordinal, reason: .byUser, date: Date())
        let (base, journal) = (RecordingTokenStore(), MemorySessionJournal(holding: SessionJournalEntry(pending: end)))
        let store = JournaledStore(
            StoreAccess(store: base), journal, storeLimit: .seconds(10), ManualTimeSource(), report: { _ in })
        await base.save(bob)
        _ = await store.read(isFirst: false)
        let signOut = StoreContent.tombstone(.byUser, at: Date(), of: .unread(upTo: .second(5)))
        for content in [StoreContent.bundle(ada, over: .older), signOut] {
            guard case .superseded(by: .tombstone(let end)) = await store.write(content, noted: {}) else {
                Issue.record("\(content)")
                continue
            }
            #expect(end.session == bob.session && end.reason == .byUser && end.ordinal == bob.ordinal)
        }
    }

    @Test(arguments: Bench.StoreKind.allCases)
    func `G30: a session that was read before it ended is not noted as seen again`(kind: Bench.StoreKind) async throws {
        let process = try await place.signedIn(kind)
        let store = process.engine.store
        let ada = try #require(place.base.bundle)
        let gate = process.store.hold(.load, .after)
        let read = Task { await store.read(isFirst: false) }
        try await gate.arrivals(atLeast: 1)
        _ = await store.write(.tombstone(.byUser, at: Date(), of: .session(ada.session, upTo: ada.ordinal))) {}
        gate.open()
        #expect(try await read.value.result.get().bundle == ada)
        await store.settle()
        #expect(place.journal.entry.isEmpty)
    }

    @Test(arguments: Bench.StoreKind.allCases)
    func `SE9: tokens that vanish right after their sign-in are lost`(kind: Bench.StoreKind) async throws {
        try await place.start(kind).engine.signIn(place.login("ada"))
        await place.base.delete()
        #expect(try await place.start(kind).engine.restore() == .signedOut(.lost()))
    }

    @Test func `G30: a session is lost only where a second read finds nothing either`() async throws {
        let session = try await place.signedIn(.shared).engine.state
        let ada = try #require(place.base.bundle)
        await place.base.delete()
        let next = place.start(.shared)
        let gate = next.store.hold(.load, .after)
        let restored = Task { try await next.engine.restore() }
        try await gate.arrivals(atLeast: 1)
        // The first read has found nothing.
        await place.base.save(ada)
        gate.open()
        #expect(try await restored.value == session)
    }

    private final class PublishingStore: ForwardingStore, SessionPublishing {
        let base: FaultyTokenStore<RecordingTokenStore>
        let published = Locked<[SessionTombstone]>([])

        init(over base: RecordingTokenStore) { self.base = FaultyTokenStore(base) }

        func publish(_ ending: SessionTombstone) { published.withLock { $0.append(ending) } }
    }

    @Test(arguments: [true, false], [true, false])
    func `SE11: an end that the store refuses is published`(isSignIn: Bool, hasJournal: Bool) async throws {
        let store = PublishingStore(over: place.base)
        let engine = TokenRefreshCoordinator(over: store, journal: hasJournal ? place.journal : nil, clock: place.clock)
        try await engine.signIn(place.login("ada"))
        store.base.fail(isSignIn ? .save : .delete)
        if isSignIn { try await engine.signIn(place.login("bob")) } else { try? await engine.signOut() }
        let end = try #require(store.published.withLock { $0.first })
        #expect(end.reason == .byUser && end.ordinal == place.base.bundle?.ordinal && place.stored == "ada1 g0")
    }

    @Test func `SE11: a lost session is published`() async throws {
        let session = try await place.signedIn(.shared).engine.state
        await place.base.delete()
        let store = PublishingStore(over: place.base)
        try await TokenRefreshCoordinator(over: store, journal: place.journal, clock: place.clock).restore()
        let end = try #require(store.published.withLock { $0.first })
        #expect(end.reason == .lost() && .signedIn(end.session) == session)
    }
}
