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

/// Finds few steps that still break the same law.
///
/// Each step of a world has a number of its own, so leaving steps out is leaving numbers out: halves first, then
/// quarters, down to single steps, until none can go.
struct Shrinking {
    let failure: Run.Failure
    let fault: World.Fault?
    /// The steps that are left.
    let shortest: [UInt64]

    /// The maximum number of runs.
    private static let maximumPauseWait = 4_000

    init(_ failure: Run.Failure, fault: World.Fault? = nil) {
        self.failure = failure
        self.fault = fault
        shortest = Self.shorten(failure, fault)
    }

    /// The trace of the shortest run.
    var trace: String {
        let world = Self.replay(shortest, of: failure, fault, isTraced: true)
        let (law, plan) = (world.violation?.law.rawValue ?? "nothing was broken this time", world.plan)
        let head = [
            "\(law): world \(failure.seed), \(failure.draws.count) steps, \(shortest.count) of them matter",
            "\(plan.processes) processes, \(plan.lease), \(plan.tolerance), \(plan.server)",
            "\(plan.rates), \(plan.policy)",
        ]
        return (head + (world.trace ?? [])).joined(separator: "\n")
    }

    private static func shorten(_ failure: Run.Failure, _ fault: World.Fault?) -> [UInt64] {
        var draws = failure.draws
        var size = max(draws.count / 2, 1)
        var tries = 0
        while tries < maximumPauseWait {
            var start = 0
            var shrank = false
            while start < draws.count, tries < maximumPauseWait {
                let rest = Array(draws[..<start] + draws[min(start + size, draws.count)...])
                tries += 1
                if replay(rest, of: failure, fault).violation != nil {
                    draws = rest
                    shrank = true
                } else {
                    start += size
                }
            }
            if size == 1, !shrank { break }
            if !shrank { size = max(size / 2, 1) }
        }
        return draws
    }

    private static func replay(
        _ draws: [UInt64],
        of failure: Run.Failure,
        _ fault: World.Fault?,
        isTraced: Bool = false
    ) -> World {
        let scope = Run.Scope(only: failure.violation.key)
        var world = World(plan: WorldPlan(seed: failure.seed), fault: fault, scope: scope, isTraced: isTraced)
        for draw in draws where world.violation == nil { _ = world.step(draw) }
        if world.violation == nil { world.comeToRest() }
        return world
    }
}
