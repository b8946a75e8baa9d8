@testable import TokenRefresh

/// Finds few steps that still break the same law.
///
/// Each step of a world has a number of its own, so leaving steps out is leaving numbers out: halves first, then
/// quarters, down to single steps, until none can go.
struct Shrinking {
    let failure: Run.Failure
    let rules: RefreshRules
    /// The steps that are left.
    let shortest: [UInt64]

    /// How many runs are tried at most.
    private static let patience = 4_000

    init(_ failure: Run.Failure, rules: RefreshRules) {
        self.failure = failure
        self.rules = rules
        shortest = Self.shorten(failure, rules)
    }

    /// The shortest run found, as it went.
    var trace: String {
        let world = Self.replay(shortest, of: failure, rules, isTraced: true)
        let law = world.violation?.law.rawValue ?? "nothing was broken this time"
        let head = "\(law): world \(failure.seed), \(failure.dice.count) steps, \(shortest.count) of them matter"
        return ([head, "\(world.plan.sharing), \(world.plan.server)", "\(world.plan.policy)"] + (world.trace ?? []))
            .joined(separator: "\n")
    }

    private static func shorten(_ failure: Run.Failure, _ rules: RefreshRules) -> [UInt64] {
        var dice = failure.dice
        var size = max(dice.count / 2, 1)
        var tries = 0
        while tries < patience {
            var start = 0
            var shrank = false
            while start < dice.count, tries < patience {
                let rest = Array(dice[..<start] + dice[min(start + size, dice.count)...])
                tries += 1
                if replay(rest, of: failure, rules).violation != nil {
                    dice = rest
                    shrank = true
                } else {
                    start += size
                }
            }
            if size == 1, !shrank { break }
            if !shrank { size = max(size / 2, 1) }
        }
        return dice
    }

    private static func replay(
        _ dice: [UInt64],
        of failure: Run.Failure,
        _ rules: RefreshRules,
        isTraced: Bool = false
    ) -> World {
        let scope = Scope(only: failure.violation.key)
        var world = World(plan: WorldPlan(seed: failure.seed), rules: rules, scope: scope, isTraced: isTraced)
        for die in dice where world.violation == nil { _ = world.step(die) }
        if world.violation == nil { world.comeToRest() }
        return world
    }
}
