@testable import TokenRefresh

/// Visits every state that can be reached within bounds, breadth first, so that the first law found broken is broken by
/// a shortest history.
struct Explorer {
    struct Report {
        var states = 0
        var steps = 0
        var depth = 0
        /// Whether the walk ended before all states were visited.
        var isCutShort = false
        var summary: Counterexample?
    }

    let model: ExplorationModel
    let bounds: ExplorationBounds
    /// The most states that are visited.
    var limit = 100_000_000

    private struct Origin {
        let parent: Int32
        let step: UInt16
    }

    func run() -> Report {
        var report = Report()
        let root = ExploredWorld(model, bounds)
        var seen: Set<Int> = [root.fingerprint]
        var origins = [Origin(parent: -1, step: 0)]
        var level: [(world: ExploredWorld, id: Int32)] = [(root, 0)]
        while !level.isEmpty {
            var next: [(world: ExploredWorld, id: Int32)] = []
            for (world, id) in level {
                for (index, step) in world.steps().enumerated() {
                    var new = world
                    new.take(step)
                    report.steps += 1
                    if new.world.violation != nil {
                        report.states = origins.count
                        report.summary = counterexample(of: Origin(parent: id, step: UInt16(index)), origins)
                        return report
                    }
                    guard seen.insert(new.fingerprint).inserted else { continue }
                    next.append((new, Int32(origins.count)))
                    origins.append(Origin(parent: id, step: UInt16(index)))
                }
                if origins.count >= limit {
                    report.isCutShort = true
                    report.states = origins.count
                    return report
                }
            }
            level = next
            if !level.isEmpty { report.depth += 1 }
        }
        report.states = origins.count
        return report
    }

    /// Walks a history again, and writes it down.
    private func counterexample(of last: Origin, _ origins: [Origin]) -> Counterexample {
        var choices = [last.step]
        var parent = last.parent
        while parent > 0 {
            choices.append(origins[Int(parent)].step)
            parent = origins[Int(parent)].parent
        }
        var explored = ExploredWorld(model, bounds)
        var lines: [String] = []
        for choice in choices.reversed() {
            let step = explored.steps()[Int(choice)]
            explored.world.trace = []
            explored.take(step)
            lines.append(([step.description] + (explored.world.trace ?? [])).joined(separator: "\n        "))
        }
        guard let violation = explored.world.violation else { preconditionFailure("no history repeats itself") }
        return Counterexample(violation: violation, lines: lines)
    }
}

/// A history that breaks a law, as text: the steps, and what they lead to.
struct Counterexample: CustomStringConvertible {
    let violation: Violation
    let lines: [String]

    var description: String {
        let numbered = lines.enumerated().map { "  \($0.offset + 1). \($0.element)" }
        return (["\(violation.key): \(violation.what)"] + numbered).joined(separator: "\n")
    }
}
