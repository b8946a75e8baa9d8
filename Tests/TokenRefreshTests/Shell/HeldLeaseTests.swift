import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import Storage
import TestSupport
import Testing

@testable import TokenRefresh

/// Rules 2 and 4: what the engine does with the lease of a shared store.
@Suite(.timeLimit(.minutes(10))) struct HeldLeaseTests {
    private func store(_ bundle: TokenBundle = .fixture(), ownersMayCall: Bool = false) -> OneLeaseStore {
        OneLeaseStore(
            base: FaultyTokenStore(RecordingTokenStore(holding: bundle)), held: KeptLease(ownersMayCall: ownersMayCall))
    }

    /// An engine whose call waits at a gate with its response.
    private func refreshing(_ store: OneLeaseStore, _ activity: ManualActivity) async throws -> (
        gate: Gate, refresh: Task<String?, Never>
    ) {
        let gate = Gate()
        let handler = ScriptedRefreshHandler(.rotateThenHold(at: gate))
        let engine = TokenRefreshCoordinator(over: store, handler, activity: activity)
        let refresh = Task { await code { try await engine.refresh() } }
        try await gate.arrivals(atLeast: 1)
        return (gate, refresh)
    }

    @Test(arguments: [false, true])
    func `An activity that expires ends the wait for the lease, also where it has expired as the wait starts`(
        isEarly: Bool
    ) async throws {
        let (activity, store) = (ManualActivity(), FaultyTokenStore(RecordingTokenStore(holding: .fixture())))
        let other = try await store.lease(waitingAtMost: .seconds(30))
        if isEarly { activity.expireAtOnce() }
        let engine = TokenRefreshCoordinator(over: store, activity: activity)
        let refresh = Task { await code { try await engine.refresh() } }
        if !isEarly {
            try await until { activity.running == 1 && store.calls(.lease) == 2 }
            activity.expire()
        }
        #expect(await refresh.value == "storeUnavailable")
        try await until { activity.running == 0 }
        await other.release()
    }

    @Test func `Rule 4: of a lease that was lost and a newer one, the newer one says who may call`() {
        let settings = MachineSettings(
            policy: .init(), isShared: true, owner: .init(host: "host", process: "p1"), tolerance: .none)
        var core = CoordinatorCore(machine: RefreshStateMachine(settings: settings, random: .system))
        for number in 1...5 {
            let token = ExpiringActivityToken {}
            core.leases[AttemptID(number: number)] = HeldLease(
                lease: KeptLease("\(number)"), activity: token, wait: Task { .success(nil) })
        }
        #expect(core.newestLease?.identity == "5")
    }

    @Test func `G24: the status names the holder that the store reports, until the lease is given`() async throws {
        let store = MemoryTokenStore(holding: .fixture(), clock: ManualTimeSource())
        let lease = try await store.lease(waitingAtMost: .seconds(30))
        let engine = TokenRefreshCoordinator(over: store)
        let refresh = Task { await code { try await engine.refresh() } }
        try await until { engine.status.leaseHolder != nil }
        #expect(engine.status.leaseHolder?.process.host == ProcessIdentity.current.host)
        await lease.release()
        #expect(await refresh.value == nil)
        #expect(engine.status.leaseHolder == nil)
    }

    @Test func `Rule 2: an engine that is released keeps the lease, and its activity, until its tokens are stored`()
        async throws
    {
        let (store, clock, activity) = (store(), ManualTimeSource(), ManualActivity())
        store.base.fail(.save, times: 4)
        weak var released: TokenRefreshCoordinator?
        do {
            let engine = TokenRefreshCoordinator(over: store, clock: clock, activity: activity)
            released = engine
            try await engine.refresh()
        }
        // Other timers sleep on the clock, too: what is waited for is the next save.
        for failures in 1...4 {
            #expect(
                store.held.released.arrivals == 0 && activity.running == 1 && store.base.base.bundle?.generation == 0)
            try await clock.advance(by: .milliseconds(100), until: { store.base.calls(.save) > failures })
        }
        try await store.held.released.arrivals(atLeast: 1)
        #expect(store.base.base.bundle?.generation == 1)
        try await until { released == nil && activity.running == 0 }
    }

    @Test func `Rule 4: no call is made once the lease is known to be lost`() async throws {
        let store = store()
        let recording = store.base.hold(.record, .after)
        let handler = ScriptedRefreshHandler()
        let engine = TokenRefreshCoordinator(over: store, handler)
        let refresh = Task { await code { try await engine.refresh() } }
        try await recording.arrivals(atLeast: 1)
        store.held.lost.withLock { $0 = true }
        recording.open()
        #expect(await refresh.value == "refreshUnavailable")
        try await store.held.released.arrivals(atLeast: 1)
        #expect(handler.calls.isEmpty)
    }

    @Test func `Rule 4: an activity that expires before the lease is taken causes no call, and holds no lease`()
        async throws
    {
        let (store, activity) = (store(), ManualActivity())
        activity.expireAtOnce()
        let handler = ScriptedRefreshHandler()
        let engine = TokenRefreshCoordinator(over: store, handler, activity: activity)
        #expect(await code { try await engine.refresh() } == "refreshUnavailable")
        try await store.held.released.arrivals(atLeast: 1)
        try await until { activity.running == 0 }
        #expect(handler.calls.isEmpty)
    }

    @Test func `Rule 4: an activity that expires during a call marks the intent and releases the lease`()
        async throws
    {
        let (store, activity) = (store(), ManualActivity())
        let (gate, refresh) = try await refreshing(store, activity)
        activity.expire()
        try await store.held.released.arrivals(atLeast: 1)
        try await until { activity.running == 0 }
        #expect(store.base.base.bundle?.refreshIntent?.isAbandoned == true)
        gate.open()
        #expect(await refresh.value == nil)
    }

    @Test(arguments: [false, true])
    func `Rule 4: the call of another engine of the process counts as that of another process`(
        isSuspended: Bool
    ) async throws {
        let (store, activity) = (store(), ManualActivity())
        let (gate, refresh) = try await refreshing(store, activity)
        if isSuspended {
            activity.expire()
            try await store.held.released.arrivals(atLeast: 1)
        } else {
            store.held.lost.withLock { $0 = true }
        }

        let next = OneLeaseStore(base: store.base, held: KeptLease(ownersMayCall: !isSuspended))
        let others = ScriptedRefreshHandler()
        let other = TokenRefreshCoordinator(over: next, others)
        #expect(await code { try await other.refresh() } == "refreshUnavailable")
        #expect(others.calls.isEmpty)
        try await next.held.released.arrivals(atLeast: 1)
        gate.open()
        #expect(await refresh.value == nil)
        try await until { store.base.base.bundle?.generation == 1 }
        let later = TokenRefreshCoordinator(over: next, others)
        #expect(try await later.token().generation == 1)
        #expect(others.calls.isEmpty)
    }

    @Test(arguments: [false, true])
    func `Rule 4: no call is made while the lease does not prove that an earlier one has ended`(
        mayCall: Bool
    ) async throws {
        let owner = ProcessIdentity(host: "another host", process: "p2")
        let intent = RefreshIntent(idempotencyKey: "key", owner: owner, date: Date())
        let store = store(.fixture().with(refreshIntent: intent), ownersMayCall: mayCall)
        let handler = ScriptedRefreshHandler()
        let engine = TokenRefreshCoordinator(over: store, handler)
        let code = await code { try await engine.refresh() }
        #expect(code == (mayCall ? "refreshUnavailable" : nil))
        #expect(handler.calls.count == (mayCall ? 0 : 1))
    }
}
