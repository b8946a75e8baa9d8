@testable import TokenRefresh

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
