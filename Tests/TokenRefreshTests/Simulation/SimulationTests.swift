import Foundation
import TestSupport
import Testing

@testable import TokenRefresh

/// G1 to G14, G19, G22, G23, G27, in random interleavings.
///
/// `SEED` and `STEPS` in the environment choose other worlds, and more of them.
@Suite(.ownThread) struct SimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["SEED"].flatMap(UInt64.init) ?? 20_260_101
    private static let steps = environment["STEPS"].flatMap(Int.init) ?? 300_000

    @Test func `Every law holds after every step of random interleavings`() {
        var run = Run()
        let broken = run.go(seed: Self.seed, steps: Self.steps)
        print("simulation: \(run.steps) steps in \(run.worlds) worlds from seed \(Self.seed)")
        if let broken { Issue.record("\(broken.dump)") }
    }
}
