import Foundation
import Testing

@testable import TokenRefresh

/// G1 to G14, G19, G23: whatever happens in whatever order.
///
/// `SEED` and `STEPS` in the environment choose other worlds, and more of them. `SURVEY=1` goes on after a violation, and
/// prints for each broken law the seeds of the first worlds that break it and the story of one. `WORLD` is the seed of
/// a single world, whose violations are printed as stories.
@Suite struct SimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["SEED"].flatMap(UInt64.init) ?? 20_260_101
    private static let steps = environment["STEPS"].flatMap(Int.init) ?? 1_000_000

    private static let world = environment["WORLD"].flatMap(UInt64.init)
    private static let isSurvey = environment["SURVEY"] != nil || world != nil

    @Test("G1–G14, G19, G23, G26: every law holds after every step, whatever happens in whatever order")
    func lawsHold() {
        var run = Run(scope: Scope(without: Violation.Key.unmet))
        let failure = run.go(seed: Self.seed, steps: Self.steps)
        print("simulation: \(run.steps) steps in \(run.worlds) worlds from seed \(Self.seed)")
        if let failure { Issue.record("\(Shrinking(failure, rules: run.rules).trace)") }
    }

    @Test("A law that the machine is known to break is broken", arguments: Violation.Key.unmet)
    func unmetLaws(key: Violation.Key) {
        withKnownIssue("\(key)") {
            var run = Run(scope: Scope(only: key))
            if let failure = run.go(seed: Self.seed, steps: 4_000_000) {
                Issue.record("world \(failure.seed): \(failure.violation.what)")
            }
        }
    }

    @Test("A survey prints the worlds that break a law", .enabled(if: isSurvey))
    func survey() {
        var run = Run(scope: Scope(isSurvey: true))
        let broken = Self.world.map { run.survey(world: $0) } ?? run.survey(seed: Self.seed, steps: Self.steps)
        print("survey: \(run.steps) steps in \(run.worlds) worlds")
        for (key, worlds) in broken.sorted(by: { "\($0.key)" < "\($1.key)" }) {
            print("\n### \(key)\n\(worlds.count) worlds: \(worlds.prefix(4).map(String.init).joined(separator: ", "))")
            var again = Run(scope: Scope(only: key))
            if let failure = again.world(worlds[0]) { print(Shrinking(failure, rules: run.rules).trace) }
        }
    }

    @Test("A machine that lacks one of its rules breaks a law that the rule is there for", arguments: RuleMutant.all)
    func mutantsAreNoticed(mutant: RuleMutant) throws {
        var run = Run(rules: mutant.rules, scope: Scope(without: Violation.Key.unmet))
        let found = run.go(seed: 1, steps: 400_000)
        let failure = try #require(found, "nobody misses \(mutant.rule)")
        #expect(mutant.laws.contains(failure.violation.law), "\(failure.violation)")
    }

    @Test("There is a mutant for every rule")
    func mutantsAreComplete() {
        let rules = Mirror(reflecting: RefreshRules()).children.compactMap(\.label)
        #expect(Set(rules) == Set(RuleMutant.all.map(\.rule)))
        #expect(rules.count == RuleMutant.all.count)
    }

    @Test("A failing run shrinks to the few events that matter, and reads as a story")
    func shrinking() throws {
        let rules = RuleMutant.all[0].rules
        var run = Run(rules: rules, scope: Scope(without: Violation.Key.unmet))
        let found = run.go(seed: 2, steps: 400_000)
        let failure = try #require(found)
        let shrinking = Shrinking(failure, rules: rules)
        #expect(shrinking.shortest.count <= 25)
        #expect(shrinking.trace.contains("BROKEN \(failure.violation.law.rawValue)"))
    }
}
