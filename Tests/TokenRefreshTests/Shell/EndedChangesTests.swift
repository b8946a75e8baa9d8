import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import TestSupport
import Testing

@testable import TokenRefresh

/// When an engine watches its store, and what it does when the store cannot report changes.
@Suite(.timeLimit(.minutes(10))) struct EndedChangesTests {
    @Test func `A store that cannot report changes is checked, and the status and an event say so`() async throws {
        let (store, clock) = (FaultyTokenStore(RecordingTokenStore(holding: .fixture())), ManualTimeSource())
        // Its streams of changes end at once.
        store.fail(.watch)
        let log = EventLog()
        let engine = TokenRefreshCoordinator(over: store, clock: clock, events: log)
        try await engine.restore()
        #expect(engine.status.isWatched)
        let other = TokenRefreshCoordinator(over: store.base)
        try await other.signIn(.fixture("bob"))
        try await clock.advance(by: .seconds(1), until: { engine.state == other.state })
        try await other.signOut()
        try await clock.advance(by: .seconds(1), until: { engine.state == .signedOut(.byUser) })
        try await clock.advance(by: .milliseconds(100), until: { !engine.status.isWatched })
        #expect(log.count("storeNotWatched") >= 1 && store.calls(.watch) >= 2, "the stream is opened again")

        store.recover(.watch)
        try await clock.advance(by: .seconds(1), until: { engine.status.isWatched })
    }

    /// A journal that cannot report changes, such as one on a network file system.
    private struct SilentJournal: SessionJournal {
        let base = MemorySessionJournal()

        var storeName: String { base.storeName }
        func read() async throws -> SessionJournalEntry { try await base.read() }
        func update(
            _ change: @escaping @Sendable (Result<SessionJournalEntry, TokenStoreError>) -> SessionJournalEntry?
        ) async throws -> SessionJournalEntry { try await base.update(change) }
    }

    @Test func `G30: an end that only a journal without changes took ends the other processes`() async throws {
        let (store, clock) = (FaultyTokenStore(RecordingTokenStore(holding: .fixture())), ManualTimeSource())
        let journal = SilentJournal()
        let engines = (0..<2).map { _ in TokenRefreshCoordinator(over: store, journal: journal, clock: clock) }
        for engine in engines { try await engine.restore() }
        store.fail(.delete)
        try? await engines[0].signOut()
        try await clock.advance(toTimerIn: TokenRefreshCoordinator.polling.limit)
        try await until { engines[1].state == .signedOut(.byUser) }
    }

    /// A store that notes in which order it is read and watched, and is slow to be watched.
    private final class OrderedStore: ForwardingStore {
        let base = RecordingTokenStore(holding: .fixture())
        let order = EventLog()

        var changes: AsyncStream<Void> {
            let before = order.values.count
            // A read or a write that does not wait for the stream comes first.
            for _ in 0..<1_000 where order.values.count == before { sched_yield() }
            order.record("watch")
            return base.changes
        }

        func read() async throws -> StoredSession {
            order.record("read")
            return await base.read()
        }

        func update(_ change: @escaping StoreChange) async throws {
            order.record("write")
            await base.update(change)
        }
    }

    @Test func `G5: a shared store is accessed once its changes are reported`() async throws {
        for _ in 0..<10 {
            let (store, new) = (OrderedStore(), OrderedStore())
            _ = try await TokenRefreshCoordinator(over: store).token()
            #expect(store.order.values.first == "watch")
            try await TokenRefreshCoordinator(over: new).signIn(.fixture("bob"))
            // A sign-in reads first what it comes after, and follows none of it.
            #expect(new.order.values.dropFirst().first == "watch")
        }
    }

    @Test func `The pauses between the checks of a store that cannot report changes stay under five seconds`() {
        for failures in 1...100 {
            let pause = TokenRefreshCoordinator.polling.delay(afterFailures: failures)
            #expect(pause >= .seconds(1) && pause < .seconds(5))
        }
    }

    @Test func `A store whose streams of changes have lasted counts as watched`() async throws {
        let (store, clock) = (FaultyTokenStore(RecordingTokenStore(holding: .fixture())), ManualTimeSource())
        let engine = TokenRefreshCoordinator(over: store, clock: clock)
        _ = try await engine.token()
        for _ in 1...3 {
            clock.advance(by: .seconds(10))
            let reads = store.calls(.load)
            // It ends the stream that is open, and no later one. The store is read once the next one is open.
            store.fail(.watch, times: 0)
            try await clock.advance(by: .milliseconds(100), until: { store.calls(.load) > reads })
        }
        #expect(engine.status.isWatched && store.calls(.watch) == 4)
    }
}
