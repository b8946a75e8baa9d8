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

    /// What this thread has used of the processor, in seconds.
    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test func `Every law holds after every step of random interleavings`() {
        var run = Run()
        let start = Self.processorTime
        let broken = run.go(seed: Self.seed, steps: Self.steps)
        let perSecond = Int(Double(run.steps) / (Self.processorTime - start))
        print(
            "simulation: \(run.steps) steps in \(run.worlds) worlds from seed \(Self.seed),",
            "\(perSecond) steps/s of processor time")
        if let broken { Issue.record("\(broken.dump)") }
    }

    /// The faults that the exploration cannot find, or not at rest, and the laws of which one must notice them.
    private static let faults: [(World.Fault, Set<Law>)] = [
        (.writesAreBlind, [.revival, .newest, .rotation, .backwards, .order, .otherSignIn, .follows]),
        (.followersGetUnsavedTokens, [.follower]), (.sleepsAreNotShown, [.quiet]),
    ]

    @Test(arguments: faults)
    func `A world whose store or server is faulty breaks one of some laws, which its trace names`(
        fault: World.Fault, laws: Set<Law>
    ) throws {
        var run = Run(fault: fault)
        let found = run.go(seed: 1, steps: 2_000_000)
        let world = try #require(found)
        let violation = try #require(world.violation)
        #expect(laws.contains(violation.law), "\(world.dump)")
        #expect(world.dump.contains("BROKEN \(violation.law.rawValue)"))
    }
}
