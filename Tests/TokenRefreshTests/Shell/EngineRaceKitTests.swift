import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Testing

@testable import TokenRefresh

/// The engine put through the races that other teams' code is put through, and through two that need its own tasks.
@Suite(.timeLimit(.minutes(10))) struct EngineRaceKitTests {
    @Test(arguments: Bench.StoreKind.allCases)
    func `The engine passes every race of the kit`(kind: Bench.StoreKind) async {
        let report = await RaceKit.run { scene in
            let store = kind.view(of: scene.store)
            return RaceSubject(TokenRefreshCoordinator(store: store, handler: scene.handler, clock: scene.clock))
        }
        #expect(report.failures.isEmpty, "\(report)")
        #expect(report.entries.count == RaceScenario.all.count)
    }

    @Test func `G7: a request of a cancelled task throws, and the refresh that it started is kept`() async throws {
        let (bench, token) = try await Bench.withToken()
        let start = Gate()
        let request = Task { [engine = bench.engine] in
            await start.pass()
            return try await engine.replacement(for: token)
        }
        request.cancel()
        start.open()
        #expect(await request.outcome() == "cancelled")
        try await bench.events.first("refreshed")
        #expect(bench.store.base.bundle?.generation == 1)
    }

    @Test func `G7: requests that are cancelled as the response arrives each return once`() async throws {
        let bench = try await Bench.signedIn()
        for round in 1...20 {
            let (gate, requests) = try await bench.startRefresh(of: bench.engine.token(), requests: 200)
            let canceller = Task { for request in requests { request.cancel() } }
            gate.open()
            let outcomes = Set(await requests.outcomes())
            await canceller.value
            #expect(outcomes.isSubset(of: ["cancelled", "ada1 g\(round)"]))
            // The engine has the new tokens later than the store.
            #expect(await bench.engine.settle())
            bench.clock.advance(by: .seconds(60))
        }
        #expect(bench.engine.core.withLock { $0.callers.waiters.isEmpty })
        #expect(bench.server.reuses == 0)
    }
}
