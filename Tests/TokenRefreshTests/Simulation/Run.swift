@testable import TokenRefresh

/// Worlds, one after another, until a law is broken or the steps are used up.
struct Run {
    private(set) var steps = 0
    private(set) var worlds = 0

    /// Runs worlds from a seed on.
    ///
    /// - Returns: The world that breaks a law, run a second time with its events written down.
    mutating func go(seed: UInt64, steps limit: Int) -> World? {
        var seeds = RandomDraws(seed)
        while steps < limit {
            let plan = WorldPlan(seed: seeds.next())
            worlds += 1
            if world(plan).violation != nil { return world(plan, isTraced: true) }
        }
        return nil
    }

    private mutating func world(_ plan: WorldPlan, isTraced: Bool = false) -> World {
        var world = World(plan: plan, isTraced: isTraced)
        var draws = RandomDraws(plan.seed ^ 0x5EED)
        var taken = 0
        while taken < plan.length, world.violation == nil {
            if world.step(draws.next()) { taken += 1 }
        }
        if world.violation == nil { world.comeToRest() }
        steps += taken
        return world
    }
}
