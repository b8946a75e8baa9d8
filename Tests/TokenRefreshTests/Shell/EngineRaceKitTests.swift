import AuthInterface
import AuthTesting
import Testing
import TokenRefresh

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
