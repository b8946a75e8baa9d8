import AuthInterface
import AuthTesting
import Testing

/// Old code put through the races. What passes them all is shown where the engine is tested.
@Suite struct RaceKitTests {
    @Test("an actor that awaits without storing its task fails the races")
    func awaitingRefresher() async {
        let report = await RaceKit.run(patience: .seconds(1)) { RaceSubject(AwaitingRefresher($0)) }
        #expect(report.entries.map(\.scenario) == RaceScenario.all)
        // It reads the store whenever it has forgotten its tokens, and so finds the second user there.
        let spared: Set = [RaceScenario.rejectionOfThePast]
        #expect(Set(report.failures.map(\.scenario)).union(spared) == Set(RaceScenario.all), "\(report)")
        #expect(report.outcome(of: .singleFlight) == .broken("the handler was called 1000 times instead of 1"))
        #expect(report.outcome(of: .hungRefresh) == .hung("waiting for 10 callers to fail"))
    }

    @Test("one that stores its task survives a burst, and loses sessions all the same")
    func taskStoringRefresher() async {
        let report = await RaceKit.run(patience: .seconds(1)) { RaceSubject(TaskStoringRefresher($0)) }
        let held = Set(report.entries.filter { $0.outcome == .holds }.map(\.scenario))
        let expected: Set<RaceScenario> = [
            .singleFlight, .expiredTogether, .lateRefusal, .oneEnding, .failureShared, .tooManyRequests,
        ]
        #expect(held == expected, "\(report)")
    }

    @Test("between them they fail every race, so that no race is a formality")
    func everyRaceCatches() async {
        let report = await RaceKit.run([.rejectionOfThePast]) { RaceSubject(TaskStoringRefresher($0)) }
        #expect(!report.isClean)
    }

    @Test("a check throws what did not hold, and a report tells it race by race")
    func check() async throws {
        let violation = await #expect(throws: ContractViolation.self) {
            try await RaceKit.check([.singleFlight, .requestOfThePast]) { RaceSubject(TaskStoringRefresher($0)) }
        }
        let broken = try #require(violation).brokenRules
        #expect(broken.map(\.name) == ["G23: a request is never sent again as another user"])
        let report = await RaceKit.run([.singleFlight, .loopBreaker]) { RaceSubject(TaskStoringRefresher($0)) }
        let lines = "\(report)".split(separator: "\n")
        #expect(lines.prefix(2) == ["1 of 2 races hold", "  + G1: 1,000 refusals at once cause one refresh: holds"])
        #expect(lines.last?.hasPrefix("  - G10") == true)
        #expect(report.outcome(of: .lateRefusal) == nil)
    }

    @Test("a subject that cannot be made is a race that is broken, not a run that stops")
    func noSubject() async {
        struct Unbuilt: Error {}
        let report = await RaceKit.run([.lateRefusal]) { _ in throw Unbuilt() }
        #expect(report.outcome(of: .lateRefusal) == .broken("while signing ada in: Unbuilt()"))
    }
}
