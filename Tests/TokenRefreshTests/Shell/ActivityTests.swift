import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import TestSupport
import Testing

@testable import TokenRefresh

/// What the engine does with the activity in which it waits for the lease and holds it.
@Suite(.timeLimit(.minutes(10))) struct ActivityTests {
    private let activity = ManualActivity()
    private let store = FaultyTokenStore(RecordingTokenStore(holding: .fixture(), clock: ManualTimeSource()))

    private func engine(_ handler: ScriptedRefreshHandler) -> TokenRefreshCoordinator {
        TokenRefreshCoordinator(over: store, handler, activity: activity)
    }

    @Test func `An activity that expires ends the wait for the lease`() async throws {
        let other = try await store.lease(waitingAtMost: .seconds(30))
        let engine = engine(ScriptedRefreshHandler())
        let refresh = Task { await code { try await engine.refresh() } }
        try await until { activity.running == 1 && store.calls(.lease) == 2 }
        activity.expire()
        #expect(await refresh.value == "storeUnavailable")
        try await until { activity.running == 0 }
        await other.release()
    }

    @Test func `A wait that starts after its activity has expired ends at once`() async throws {
        let other = try await store.lease(waitingAtMost: .seconds(30))
        activity.expireAtOnce()
        let engine = engine(ScriptedRefreshHandler())
        #expect(await code { try await engine.refresh() } == "storeUnavailable")
        try await until { activity.running == 0 }
        await other.release()
    }

    @Test func `An activity ends with its refresh`() async throws {
        let engine = engine(ScriptedRefreshHandler())
        try await engine.refresh()
        try await until { activity.running == 0 }
        #expect(await engine.settle())
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
}
