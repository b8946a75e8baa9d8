@testable import TokenRefresh

/// Worlds, one after another, until a law is broken or the steps are used up.
struct Run {
    struct Failure {
        let seed: UInt64
        let violation: Violation
        let draws: [UInt64]
    }

    let fault: World.Fault?
    private(set) var steps = 0
    private(set) var worlds = 0

    init(fault: World.Fault? = nil) {
        self.fault = fault
    }

    /// Runs worlds from a seed on.
    mutating func go(seed: UInt64, steps limit: Int) -> Failure? {
        var seeds = RandomDraws(seed)
        while steps < limit {
            if let failure = world(seeds.next()) { return failure }
        }
        return nil
    }

    /// Runs the world of one seed.
    private mutating func world(_ seed: UInt64) -> Failure? {
        let plan = WorldPlan(seed: seed)
        // What a fault breaks must be stated for its world.
        guard fault == nil || plan.traits.isDisjoint(with: [.damage, .stepUps]) else { return nil }
        var world = World(plan: plan, fault: fault)
        var draws = RandomDraws(seed ^ 0x5EED)
        var taken: [UInt64] = []
        worlds += 1
        while taken.count < plan.length, world.violation == nil {
            let draw = draws.next()
            if world.step(draw) { taken.append(draw) }
        }
        if world.violation == nil { world.comeToRest() }
        steps += taken.count
        return world.violation.map { Failure(seed: seed, violation: $0, draws: taken) }
    }
}

extension Run.Failure {
    /// The steps of the world, up to the broken law.
    func trace(_ fault: World.Fault? = nil) -> String {
        var world = World(plan: WorldPlan(seed: seed), fault: fault, isTraced: true)
        for draw in draws where world.violation == nil { _ = world.step(draw) }
        if world.violation == nil { world.comeToRest() }
        let plan = world.plan
        let head = [
            "\(violation.law.rawValue): world \(seed), \(draws.count) steps",
            "\(plan.processes) processes, \(plan.lease), \(plan.tolerance), \(plan.server)",
            "\(plan.rates), \(plan.policy)",
        ]
        return (head + (world.trace ?? [])).joined(separator: "\n")
    }
}
