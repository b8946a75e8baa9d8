@testable import TokenRefresh

/// Worlds, one after another, until a law is broken or the steps are used up.
struct Run {
    struct Failure {
        let seed: UInt64
        let violation: Violation
        let dice: [UInt64]
    }

    var rules = RefreshRules()
    private(set) var steps = 0
    private(set) var worlds = 0

    init(rules: RefreshRules = RefreshRules()) {
        self.rules = rules
    }

    /// Runs worlds from a seed on.
    mutating func go(seed: UInt64, steps limit: Int) -> Failure? {
        var seeds = Dice(seed)
        while steps < limit {
            if let failure = world(seeds.next()) { return failure }
        }
        return nil
    }

    /// Runs the world of one seed.
    mutating func world(_ seed: UInt64) -> Failure? {
        let plan = WorldPlan(seed: seed)
        var world = World(plan: plan, rules: rules)
        var dice = Dice(seed ^ 0x5EED)
        var taken: [UInt64] = []
        worlds += 1
        while taken.count < plan.length, world.violation == nil {
            let die = dice.next()
            if world.step(die) { taken.append(die) }
        }
        world.comeToRest()
        steps += taken.count
        return world.violation.map { Failure(seed: seed, violation: $0, dice: taken) }
    }
}
