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
    private let base = FaultyTokenStore(RecordingTokenStore(holding: .fixture()))
    private let held = KeptLease()
    private let handler = ScriptedRefreshHandler()
    private let clock = ManualTimeSource()
    private let activity = ManualActivity()

    private var bundle: TokenBundle? { base.base.bundle }

    /// An engine over a store that gives one lease, or over another one.
    private func engine(over store: (any TokenStore)? = nil) -> TokenRefreshCoordinator {
        TokenRefreshCoordinator(
            over: store ?? OneLeaseStore(base: base, held: held), handler, clock: clock, activity: activity)
    }

    private func refresh(_ engine: TokenRefreshCoordinator) -> Task<String?, Never> {
        Task { await code { try await engine.refresh() } }
    }

    /// A refresh whose call waits at a gate with its response.
    private func refreshing() async throws -> (gate: Gate, refresh: Task<String?, Never>) {
        let gate = Gate()
        handler.add(.rotateThenHold(at: gate))
        let refresh = refresh(engine())
        try await gate.arrivals(atLeast: 1)
        return (gate, refresh)
    }

    @Test(arguments: [false, true])
    func `An activity that expires ends the wait for the lease, also as the wait starts`(isEarly: Bool) async throws {
        let other = try await base.lease(waitingAtMost: .seconds(30))
        if isEarly { activity.expireAtOnce() }
        let refresh = refresh(engine(over: base))
        if !isEarly {
            try await until { activity.running == 1 && base.calls(.lease) == 2 }
            activity.expire()
        }
        #expect(await refresh.value == "storeUnavailable")
        try await until { activity.running == 0 }
        await other.release()
    }

    @Test func `Rule 4: of a lease that was lost and a newer one, the newer one says who may call`() {
        var core = CoordinatorCore(machine: MachineScript(isShared: true).machine)
        for number in 1...5 {
            let lease = KeptLease("\(number)")
            core.leases[AttemptID(number: number)] = HeldLease(
                lease: lease, activity: ExpiringActivityToken {}, wait: Task { lease })
        }
        #expect(core.newestLease?.identity == "5")
    }

    @Test func `G24: the status names the holder that the store reports, until the lease is given`() async throws {
        let store = MemoryTokenStore(holding: .fixture(), clock: clock)
        let lease = try await store.lease(waitingAtMost: .seconds(30))
        let engine = engine(over: store)
        let refresh = refresh(engine)
        try await until { engine.status.leaseHolder != nil }
        #expect(engine.status.leaseHolder?.process.host == ProcessIdentity.current.host)
        await lease.release()
        #expect(await refresh.value == nil)
        #expect(engine.status.leaseHolder == nil)
    }

    @Test func `Rule 2: a released engine keeps its lease and activity until its tokens are stored`() async throws {
        base.fail(.save, times: 4)
        weak var released: TokenRefreshCoordinator?
        do {
            let engine = engine()
            released = engine
            try await engine.refresh()
        }
        // Other timers sleep on the clock, too: what is waited for is the next save.
        for failures in 1...4 {
            #expect(held.released.arrivals == 0 && activity.running == 1 && bundle?.generation == 0)
            try await clock.advance(by: .milliseconds(100), until: { base.calls(.save) > failures })
        }
        try await held.released.arrivals(atLeast: 1)
        #expect(bundle?.generation == 1)
        try await until { released == nil && activity.running == 0 }
    }

    @Test func `Rule 4: no call is made once the lease is known to be lost`() async throws {
        let recording = base.hold(.record, .after)
        let refresh = refresh(engine())
        try await recording.arrivals(atLeast: 1)
        held.lost.withLock { $0 = true }
        recording.open()
        #expect(await refresh.value == "refreshUnavailable")
        try await held.released.arrivals(atLeast: 1)
        #expect(handler.calls.isEmpty)
    }

    @Test func `Rule 4: an activity that expires before the lease is taken causes no call and no lease`() async throws {
        activity.expireAtOnce()
        #expect(await refresh(engine()).value == "refreshUnavailable")
        try await held.released.arrivals(atLeast: 1)
        try await until { activity.running == 0 }
        #expect(handler.calls.isEmpty)
    }

    @Test func `Rule 4: an activity that expires in a call marks the intent and releases the lease`() async throws {
        let (gate, refresh) = try await refreshing()
        activity.expire()
        try await held.released.arrivals(atLeast: 1)
        try await until { activity.running == 0 }
        #expect(bundle?.refreshIntent?.isAbandoned == true)
        gate.open()
        #expect(await refresh.value == nil)
    }

    @Test(arguments: [false, true])
    func `Rule 4: the call of another engine here counts as another process's`(isSuspended: Bool) async throws {
        let (gate, refresh) = try await refreshing()
        if isSuspended {
            activity.expire()
            try await held.released.arrivals(atLeast: 1)
        } else {
            held.lost.withLock { $0 = true }
        }

        let next = OneLeaseStore(base: base, held: KeptLease(ownersMayCall: !isSuspended))
        #expect(await self.refresh(engine(over: next)).value == "refreshUnavailable")
        try await next.held.released.arrivals(atLeast: 1)
        gate.open()
        #expect(await refresh.value == nil)
        try await until { bundle?.generation == 1 }
        #expect(try await engine(over: next).token().generation == 1)
        #expect(handler.calls.count == 1, "the first engine's")
    }

    @Test(arguments: [false, true])
    func `Rule 4: no call is made before the lease proves that the last one has ended`(mayCall: Bool) async throws {
        let owner = ProcessIdentity(host: "another host", process: "p2")
        let intent = RefreshIntent(idempotencyKey: "key", owner: owner, date: Date())
        await base.base.save(.fixture().with(refreshIntent: intent))
        let store = OneLeaseStore(base: base, held: KeptLease(ownersMayCall: mayCall))
        #expect(await refresh(engine(over: store)).value == (mayCall ? "refreshUnavailable" : nil))
        #expect(handler.calls.count == (mayCall ? 0 : 1))
    }
}
