import AuthInterface
import AuthTesting
import Foundation
import Testing

@Suite("The doubles of stores do what they are told")
struct FaultyTokenStoreTests {
    private let bundle = TokenBundle(accessToken: "access-1", refreshToken: "refresh-1")

    @Test("Without a script it is the store underneath, and can be shared if that one can")
    func transparent() async throws {
        try await TokenStoreContract.check(reopen: { $0 }, makeEmptyStore: { FaultyTokenStore(BentTokenStore()) })
        try await SharedTokenStoreContract.check { FaultyTokenStore(BentTokenStore()) }
        let lonely: any TokenStore = FaultyTokenStore(Lonely())
        #expect(lonely as? any SharedTokenStore == nil)
    }

    @Test("A scripted failure lasts as many calls as it was given, and does not reach the store underneath")
    func failsSoOften() async throws {
        let base = RecordingTokenStore()
        let store = FaultyTokenStore(base)
        store.fail(.save, times: 2)
        for _ in 1...2 {
            await #expect(throws: TokenStoreError.self) { try await store.save(bundle) }
        }
        #expect(base.events.isEmpty)
        try await store.save(bundle)
        #expect(base.events == [.save(bundle)])
        #expect(store.calls(.save) == 3)
    }

    @Test("A failure without a number lasts until the operation recovers")
    func failsUntilRecovery() async throws {
        struct Scripted: Error {}
        let store = FaultyTokenStore(RecordingTokenStore(holding: bundle))
        store.fail(.load, with: Scripted())
        for _ in 1...3 {
            await #expect(throws: Scripted.self) { try await store.load() }
        }
        store.recover(.load)
        #expect(try await store.load() == bundle)
        #expect(store.calls(.load) == 4)
    }

    @Test("A call that is held before does its work after the gate opens; one that is held after has done it")
    func gates() async throws {
        let base = RecordingTokenStore(holding: bundle)
        let store = FaultyTokenStore(base)
        let gate = Gate()
        store.hold(.load, at: gate, .after)
        store.hold(.delete, at: gate, .before)
        let load = Task { try await store.load() }
        await gate.arrivals(atLeast: 1)
        #expect(base.events == [.load(bundle)])
        let delete = Task { try await store.delete() }
        await gate.arrivals(atLeast: 2)
        #expect(base.bundle == bundle)
        gate.open()
        try await delete.value
        #expect(base.bundle == nil)
        #expect(try await load.value == bundle)
    }

    @Test("Reads, updates, leases and releases count and fail like loads and saves")
    func leases() async throws {
        let store = FaultyTokenStore(RecordingTokenStore(holding: bundle))
        store.fail(.save)
        let lease = try await store.lease(waitingAtMost: .zero)
        await #expect(throws: TokenStoreError.self) { try await store.update { _ in .active(bundle) } }
        _ = try await store.read()
        let intent = RefreshIntent(idempotencyKey: "key", owner: .current, date: Date())
        try await store.update { [bundle] _ in .active(bundle.with(pendingRefresh: intent)) }
        await lease.release()
        let counts = Dictionary(uniqueKeysWithValues: StoreOperation.allCases.map { ($0, store.calls($0)) })
        #expect(counts == [.load: 1, .save: 1, .record: 1, .delete: 0, .lease: 1, .release: 1])
    }

    @Test("The recording store tells what was asked of it in order, the release of a dropped lease included")
    func recording() async throws {
        let store = RecordingTokenStore()
        do {
            let lease = try await store.lease(waitingAtMost: .zero)
            await store.save(bundle)
            #expect(!lease.mayStillCall(.current))
        }
        _ = await store.load()
        await store.delete()
        #expect(store.events == [.lease, .save(bundle), .release, .load(bundle), .delete])
    }

    @Test("A waiter of the recording store gives up when its clock says so, and its turn goes to the next")
    func recordingLimit() async throws {
        let clock = ManualTimeSource()
        let store = RecordingTokenStore(clock: clock)
        let lease = try await store.lease(waitingAtMost: .zero)
        let waiter = Task { _ = try await store.lease(waitingAtMost: .seconds(5)) }
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(5))
        await #expect(throws: TokenStoreError.self) { try await waiter.value }
        await lease.release()
        await (try await store.lease(waitingAtMost: .zero)).release()
    }

    private struct Lonely: TokenStore {
        func load() async throws -> TokenBundle? { nil }
        func save(_ bundle: TokenBundle) async throws {}
        func delete() async throws {}
    }
}
