import Foundation
import TestSupport
import Testing

@testable import TokenRefresh

/// G1 to G14, G19, G22, G23, G27, in random interleavings.
///
/// `SEED` and `STEPS` in the environment choose other worlds, and more of them. `SURVEY=1` continues after a violation,
/// and prints for each broken law the seeds of the first worlds that break it and the trace of one. `WORLD` is the seed
/// of a single world, whose violations are printed as traces.
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

    private static let world = environment["WORLD"].flatMap(UInt64.init)
    private static let isSurvey = environment["SURVEY"] != nil || world != nil

    @Test func `Every law holds after every step of random interleavings`() {
        var run = Run()
        let start = Self.processorTime
        let failure = run.go(seed: Self.seed, steps: Self.steps)
        let perSecond = Int(Double(run.steps) / (Self.processorTime - start))
        print(
            "simulation: \(run.steps) steps in \(run.worlds) worlds from seed \(Self.seed),",
            "\(perSecond) steps/s of processor time")
        if let failure { Issue.record("\(failure.trace())") }
    }

    @Test(.enabled(if: isSurvey))
    func `A survey prints the worlds that break a law`() {
        var run = Run(scope: Run.Scope(isSurvey: true))
        let broken = Self.world.map { run.survey(world: $0) } ?? run.survey(seed: Self.seed, steps: Self.steps)
        print("survey: \(run.steps) steps in \(run.worlds) worlds")
        for (key, worlds) in broken.sorted(by: { "\($0.key)" < "\($1.key)" }) {
            print("\n### \(key)\n\(worlds.count) worlds: \(worlds.prefix(4).map(String.init).joined(separator: ", "))")
            var again = Run(scope: Run.Scope(only: key))
            if let failure = again.world(worlds[0]) { print(failure.trace()) }
        }
    }

    @Test(arguments: Broken.all)
    func `A world whose store or server is faulty breaks a law`(broken: Broken) throws {
        var run = Run(fault: broken.fault)
        let found = run.go(seed: 1, steps: 2_000_000)
        let failure = try #require(found)
        #expect(broken.laws.contains(failure.violation.law), "\(failure.violation)")
    }

    @Test func `The trace of a failing run names the broken law`() throws {
        let fault = World.Fault.leaseIsNotExclusive
        var run = Run(fault: fault)
        let found = run.go(seed: 2, steps: 400_000)
        let failure = try #require(found)
        #expect(failure.trace(fault).contains("BROKEN \(failure.violation.law.rawValue)"))
    }

    /// A broken world, and what the laws must notice.
    struct Broken: Sendable {
        let fault: World.Fault
        let laws: Set<Law>

        static let all = [
            Broken(fault: .leaseIsNotExclusive, laws: [.leased, .secondCall, .singleFlight, .reuse, .rotation]),
            Broken(
                fault: .writesAreBlind,
                laws: [.revival, .newest, .rotation, .backwards, .order, .otherSignIn, .follows]),
            Broken(fault: .keysAreForgotten, laws: [.keys]),
            Broken(fault: .followersGetUnsavedTokens, laws: [.follower]),
            Broken(fault: .endingsAreNotNoted, laws: [.signedOut, .calls, .lost]),
            Broken(fault: .sleepsAreNotShown, laws: [.quiet]),
        ]
    }
}
