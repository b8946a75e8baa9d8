@testable import TokenRefresh

/// Visits every state within bounds, breadth first: the first law found broken is broken by a shortest history.
struct Explorer {
    struct Report {
        var states = 0
        var steps = 0
        var depth = 0
        /// Whether the walk ended before all states were visited.
        var isCutShort = false
        /// The world that breaks a law, with its events written down, and the length of its history.
        var broken: (world: World, length: Int)?
    }

    let model: ExplorationModel
    let bounds: ExplorationBounds
    /// The most states that are visited: those of the last two levels are in memory, with some kilobytes each.
    var limit = 2_500_000

    private struct Origin {
        let parent: Int32
        let step: UInt16
    }

    /// A state to go on from.
    private typealias State = (explored: ExploredWorld, id: Int32)

    func run() -> Report {
        var report = Report()
        let root = ExploredWorld(model, bounds)
        var seen: Set<Int> = [root.fingerprint]
        var origins = [Origin(parent: -1, step: 0)]
        var level: [State] = [(root, 0)]
        walk: while !level.isEmpty {
            var next: [State] = []
            // Worlds whose machines are equal share them.
            var machines: Set<SharedMachine> = []
            // A state that has been left is freed.
            while let state = level.popLast() {
                for (index, choice) in state.explored.choices().enumerated() {
                    var new = state.explored
                    new.take(choice)
                    report.steps += 1
                    if new.world.violation != nil {
                        report.broken = counterexample(of: Origin(parent: state.id, step: UInt16(index)), origins)
                        break walk
                    }
                    guard seen.insert(new.fingerprint).inserted else { continue }
                    new.world.processes[choice.process].share(&machines)
                    next.append((new, Int32(origins.count)))
                    origins.append(Origin(parent: state.id, step: UInt16(index)))
                }
                if origins.count >= limit {
                    report.isCutShort = true
                    break walk
                }
            }
            level = next.reversed()
            if !level.isEmpty { report.depth += 1 }
        }
        report.states = origins.count
        return report
    }

    private func counterexample(of last: Origin, _ origins: [Origin]) -> (world: World, length: Int) {
        var choices = [last.step]
        var parent = last.parent
        while parent > 0 {
            choices.append(origins[Int(parent)].step)
            parent = origins[Int(parent)].parent
        }
        var explored = ExploredWorld(model, bounds)
        explored.world.trace = []
        for choice in choices.reversed() { explored.take(explored.choices()[Int(choice)]) }
        return (explored.world, choices.count)
    }
}
