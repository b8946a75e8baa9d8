@testable import TokenRefresh

/// Worlds, one after another, until a law is broken or the steps are used up.
struct Run {
    /// The laws that a run checks.
    struct Scope: Sendable {
        /// The only law that counts, broken in this way. `nil`: all laws.
        var only: Violation.Key?
        /// Violations that do not count.
        var without: Set<Violation.Key> = []
        /// A world continues after a violation, and collects the first of each law.
        var isSurvey = false

        func contains(_ key: Violation.Key) -> Bool {
            only.map { $0 == key } ?? !without.contains(key)
        }
    }

    struct Failure {
        let seed: UInt64
        let violation: Violation
        let draws: [UInt64]
    }

    let fault: World.Fault?
    let scope: Run.Scope
    private(set) var steps = 0
    private(set) var worlds = 0

    init(fault: World.Fault? = nil, scope: Run.Scope = Run.Scope()) {
        self.fault = fault
        self.scope = scope
    }

    /// Runs worlds from a seed on.
    mutating func go(seed: UInt64, steps limit: Int) -> Failure? {
        var seeds = RandomDraws(seed)
        while steps < limit {
            if let failure = world(seeds.next()) { return failure }
        }
        return nil
    }

    /// Runs worlds from a seed on, and continues after a violation.
    ///
    /// - Returns: For each law, and each way to break it, the seeds of the worlds that do.
    mutating func survey(seed: UInt64, steps limit: Int) -> [Violation.Key: [UInt64]] {
        var seeds = RandomDraws(seed)
        var broken: [Violation.Key: [UInt64]] = [:]
        while steps < limit {
            let next = seeds.next()
            for key in survey(world: next).keys { broken[key, default: []].append(next) }
        }
        return broken
    }

    /// Runs the world of one seed, and continues after a violation.
    ///
    /// - Returns: For each law that it breaks, and each way, the seed.
    mutating func survey(world seed: UInt64) -> [Violation.Key: [UInt64]] {
        end(of: seed).world.found.mapValues { _ in [seed] }
    }

    /// Runs the world of one seed.
    mutating func world(_ seed: UInt64) -> Failure? {
        let (world, taken) = end(of: seed)
        return world.violation.map { Failure(seed: seed, violation: $0, draws: taken) }
    }

    private mutating func end(of seed: UInt64) -> (world: World, draws: [UInt64]) {
        let plan = WorldPlan(seed: seed)
        var world = World(plan: plan, fault: fault, scope: scope)
        var draws = RandomDraws(seed ^ 0x5EED)
        var taken: [UInt64] = []
        worlds += 1
        while taken.count < plan.length, world.violation == nil {
            let draw = draws.next()
            if world.step(draw) { taken.append(draw) }
        }
        if world.violation == nil { world.comeToRest() }
        steps += taken.count
        return (world, taken)
    }
}

extension Run.Failure {
    /// The steps of the world, up to the broken law.
    func trace(_ fault: World.Fault? = nil) -> String {
        let scope = Run.Scope(only: violation.key)
        var world = World(plan: WorldPlan(seed: seed), fault: fault, scope: scope, isTraced: true)
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
