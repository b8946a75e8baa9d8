import AuthInterface
import AuthTesting
import ContractTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct FaultyTokenStoreTests {
    private let bundle = TokenBundle(accessToken: "access-1", refreshToken: "refresh-1")

    @Test func `without a script it acts as its base store, shared or not`() async throws {
        try await TokenStoreContract.check(reopen: { $0 }, makeEmptyStore: { FaultyTokenStore(AlteredTokenStore()) })
        try await SharedTokenStoreContract.check { FaultyTokenStore(AlteredTokenStore()) }
        let unshared: any TokenStore = FaultyTokenStore(UnsharedStore())
        #expect(unshared as? any SharedTokenStore == nil)
    }

    @Test func `a scripted failure lasts for its number of calls, or until the operation recovers`() async throws {
        struct Scripted: Error {}
        let base = RecordingTokenStore()
        let store = FaultyTokenStore(base)
        store.fail(.save, times: 2)
        for _ in 1...2 { await #expect(throws: TokenStoreError.self) { try await store.save(bundle) } }
        #expect(base.events.isEmpty, "it does not reach the base store")
        try await store.save(bundle)
        #expect(base.events == [.save(bundle)])
        store.fail(.load, with: Scripted())
        for _ in 1...3 { await #expect(throws: Scripted.self) { try await store.load() } }
        store.recover(.load)
        #expect(try await store.load() == bundle)
        #expect(store.calls(.save) == 3 && store.calls(.load) == 4)
    }

    @Test func `a call is held before its work, or after it`() async throws {
        let base = RecordingTokenStore(holding: bundle)
        let store = FaultyTokenStore(base)
        let gate = store.hold(.load, .after)
        store.hold(.delete, at: gate, .before)
        let load = Task { try await store.load() }
        try await gate.arrivals(atLeast: 1)
        #expect(base.events == [.load(bundle)])
        let delete = Task { try await store.delete() }
        try await gate.arrivals(atLeast: 2)
        #expect(base.bundle == bundle)
        gate.open()
        try await delete.value
        #expect(base.bundle == nil)
        #expect(try await load.value == bundle)
    }

    @Test func `reads, updates, leases and releases are counted and fail as loads and saves`() async throws {
        let store = FaultyTokenStore(RecordingTokenStore(holding: bundle))
        store.fail(.save)
        let lease = try await store.lease(waitingAtMost: .zero)
        await #expect(throws: TokenStoreError.self) { try await store.update { _ in .active(bundle) } }
        _ = try await store.read()
        let intent = RefreshIntent(idempotencyKey: "key", owner: .current, date: Date())
        try await store.update { [bundle] _ in .active(bundle.with(refreshIntent: intent)) }
        await lease.release()
        let counts = Dictionary(uniqueKeysWithValues: StoreOperation.allCases.map { ($0, store.calls($0)) })
        #expect(counts == [.load: 1, .save: 1, .record: 1, .delete: 0, .lease: 1, .release: 1, .watch: 0])
    }

    @Test func `a failure of watching ends the open stream of changes and the next ones, until it recovers`() async {
        let base = RecordingTokenStore()
        let store = FaultyTokenStore(base)
        var open = store.changes.makeAsyncIterator()
        await base.save(bundle)
        #expect(await open.next() != nil)
        store.fail(.watch, times: 1)
        #expect(await open.next() == nil)
        var closed = store.changes.makeAsyncIterator()
        #expect(await closed.next() == nil)
        var next = store.changes.makeAsyncIterator()
        await base.delete()
        #expect(await next.next() != nil)
        #expect(store.calls(.watch) == 3)
    }

    @Test func `the recording store records its operations in order, with the release of a dropped lease`() async throws
    {
        let store = RecordingTokenStore()
        do {
            let lease = try await store.lease(waitingAtMost: .zero)
            await store.save(bundle)
            let intent = RefreshIntent(idempotencyKey: "key", owner: .current, date: Date(), lease: lease.identity)
            #expect(!lease.mayStillCall(intent))
        }
        _ = await store.load()
        await store.delete()
        #expect(store.events == [.lease, .save(bundle), .release, .load(bundle), .delete])
    }

    private struct UnsharedStore: TokenStore {
        func load() async throws -> TokenBundle? { nil }
        func save(_ bundle: TokenBundle) async throws {}
        func delete() async throws {}
    }
}
