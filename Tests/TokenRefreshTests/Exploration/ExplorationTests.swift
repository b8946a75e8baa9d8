import Foundation
import Testing

@testable import TokenRefresh

/// Rules 1 to 6 between two processes: every interleaving, not a sample of them.
@Suite struct ExplorationTests {
    @Test("Walk as the environment says")
    func walk() {
        let environment = ProcessInfo.processInfo.environment
        var bounds = ExplorationBounds(faults: 1, [.refresh: 2, .pause: 1])
        bounds.read(environment["BOUNDS"] ?? "")
        for honoursKeys in [false, true] {
            var explorer = Explorer(model: ExplorationModel(honoursKeys: honoursKeys), bounds: bounds)
            explorer.limit = Int(environment["LIMIT"] ?? "") ?? 3_000_000
            explorer.progress = { depth, states in if depth % 5 == 0 { print("depth \(depth): \(states) states") } }
            let start = ContinuousClock.now
            let report = explorer.run()
            let cut = report.isCutShort ? " (cut short)" : ""
            print("\(bounds) keys=\(honoursKeys): \(report.states) states\(cut), \(report.steps) steps, depth \(report.depth), \(ContinuousClock.now - start)")
            if let story = report.story { Issue.record("\(story)") }
        }
    }
}
