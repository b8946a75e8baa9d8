import Foundation
import TestSupport
import Testing

@testable import TokenRefresh

/// G1 to G14, G19, G22, G23, G27, in random interleavings.
///
/// `SEED` and `STEPS` in the environment choose other worlds, and more of them.
@Suite(.ownThread) struct SimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["SEED"].flatMap(UInt64.init) ?? 20_260_101
    private static let steps = environment["STEPS"].flatMap(Int.init) ?? 300_000

    @Test func `Every law holds after every step of random interleavings`() {
        var seeds = RandomDraws(Self.seed)
        var (steps, worlds) = (0, 0)
        while steps < Self.steps {
            let plan = WorldPlan(seed: seeds.next())
            let (world, taken) = run(plan)
            steps += taken
            worlds += 1
            guard world.violation == nil else {
                Issue.record("\(run(plan, isTraced: true).world.dump)")
                break
            }
        }
        print("simulation: \(steps) steps in \(worlds) worlds from seed \(Self.seed)")
    }

    /// Runs a world until a law is broken, or all its steps are taken and it has come to rest.
    private func run(_ plan: WorldPlan, isTraced: Bool = false) -> (world: World, steps: Int) {
        var world = World(plan: plan, isTraced: isTraced)
        var draws = RandomDraws(plan.seed ^ 0x5EED)
        var taken = 0
        while taken < plan.length, world.violation == nil {
            if world.step(draws.next()) { taken += 1 }
        }
        if world.violation == nil { world.comeToRest() }
        return (world, taken)
    }
}
