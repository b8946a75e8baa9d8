import AuthInterface
import AuthTesting
import ContractTesting
import Testing

@testable import TokenRefresh

/// G1, G2: one refresh, with real tasks.
@Suite(.timeLimit(.minutes(10))) struct SingleFlightRaceTests {
    @Test(arguments: Bench.StoreKind.allCases)
    func `G1: 10,000 requests refused at once cause one call, and all continue with its token`(kind: Bench.StoreKind)
        async throws
    {
        let bench = Bench(kind)
        let token = try await bench.signIn()
        let (gate, requests) = try await bench.startRefresh(of: token, requests: 10_000)
        gate.open()
        #expect(try await requests.tokens().allSatisfy { $0.name == "ada1 g1" })
        #expect(bench.handler.calls.map(\.ordinal) == [0])
        #expect(bench.store.base.bundle?.generation == 1)
    }

    @Test func `G1: requests at the start, during and at the end of a call share it`() async throws {
        let bench = try await Bench.signedIn(.shared)
        for round in 1...20 {
            let token = try await bench.engine.token()
            let requests = bench.refuse(token, times: 500)
            #expect(try await requests.tokens().allSatisfy { $0.name == "ada1 g\(round)" })
            // Past the time in which the token counts as just refreshed.
            bench.clock.advance(by: .seconds(60))
        }
        #expect(bench.handler.calls.map(\.ordinal) == Array(0..<20))
        #expect(bench.handler.mostAtOnce == 1 && bench.server.reuses == 0)
    }
}

/// The engine put through the races that other teams' code is put through.
@Suite(.timeLimit(.minutes(10))) struct EngineRaceKitTests {
    @Test(arguments: Bench.StoreKind.allCases)
    func `The engine passes every race of the kit`(kind: Bench.StoreKind) async {
        let report = await RaceKit.run { scene in
            RaceSubject(
                TokenRefreshCoordinator(
                    store: kind == .shared ? scene.store : OwnTokenStore(base: scene.store),
                    handler: scene.handler,
                    clock: scene.clock
                )
            )
        }
        #expect(report.isClean, "\(report)")
        #expect(report.entries.count == RaceScenario.all.count)
    }
}
