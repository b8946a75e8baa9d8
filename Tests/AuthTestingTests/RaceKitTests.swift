import AuthTesting
import ContractTesting
import Testing

/// Common refreshers in the races. `EngineRaceKitTests` shows that the engine passes them all.
@Suite(.timeLimit(.minutes(10))) struct RaceKitTests {
    @Test func `an actor that awaits without storing its task fails the races`() async {
        let failing = RaceScenario.all
        let report = await RaceKit.run(failing, timeLimit: .seconds(1)) { RaceSubject(tutorial: $0) }
        #expect(report.failures.map(\.scenario) == failing, "\(report)")
        #expect(report.outcome(of: .hungRefresh) == .hung("waiting for 10 callers to fail"))
        let named = await RaceKit.run([.singleFlight, .rejectionOfEarlierSession]) { RaceSubject(tutorial: $0) }
        #expect(named.outcome(of: .singleFlight) == .broken("the handler was called 1000 times instead of 1"))
        let told = "after the first user's refresh was rejected the user was notified that the session has ended"
        #expect(named.outcome(of: .rejectionOfEarlierSession) == .broken(told), "whose tokens are kept")
    }

    @Test func `an actor that stores its task passes a burst, and fails other races`() async {
        let passing: [RaceScenario] = [.singleFlight, .expiredTogether, .lateRefusal, .oneEnding, .tooManyRequests]
        let passed = await RaceKit.run(passing) { RaceSubject(tutorial: $0, storesTask: true) }
        #expect(passed.failures.isEmpty, "\(passed)")
        // It has no pause: on a busy machine, a caller that comes after the shared failure starts another refresh.
        let failing = RaceScenario.all.filter { !passing.contains($0) && $0 != .failureShared }
        let report = await RaceKit.run(failing, timeLimit: .seconds(1)) { RaceSubject(tutorial: $0, storesTask: true) }
        #expect(report.failures.map(\.scenario) == failing, "\(report)")
        let pause = await RaceKit.run([.pauseAfterFailure]) { RaceSubject(tutorial: $0, storesTask: true) }
        #expect(pause.outcome(of: .pauseAfterFailure) == .broken("the handler was called 2 times instead of 1"))
    }

    @Test func `a check throws the races that do not hold, and a report lists every race`() async throws {
        let violation = await #expect(throws: ContractViolation.self) {
            try await RaceKit.check([.singleFlight, .requestOfEarlierSession]) {
                RaceSubject(tutorial: $0, storesTask: true)
            }
        }
        let broken = try #require(violation).brokenRules
        #expect(broken.map(\.name) == ["G23: a request is never sent again as another user"])
        let report = await RaceKit.run([.singleFlight, .loopBreaker]) { RaceSubject(tutorial: $0, storesTask: true) }
        let lines = "\(report)".split(separator: "\n")
        #expect(lines.prefix(2) == ["1 of 2 races hold", "  + G1: 1,000 refusals at once cause one refresh: holds"])
        #expect(lines.last?.hasPrefix("  - G10") == true)
        #expect(report.outcome(of: .lateRefusal) == nil)
    }

    @Test func `a subject that cannot be made breaks its race, and the run continues`() async {
        struct Unbuilt: Error {}
        let report = await RaceKit.run([.lateRefusal]) { _ in throw Unbuilt() }
        #expect(report.outcome(of: .lateRefusal) == .broken("while signing ada in: Unbuilt()"))
    }
}
