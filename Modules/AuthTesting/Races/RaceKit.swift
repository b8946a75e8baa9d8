import ConcurrencyPrimitives
import ContractTesting

/// The known ways to lose a session, as races to run against any token refresher.
///
/// Every race has a new subject and a new ``RaceScene``. Nothing sleeps: gates hold the calls, and the race moves the
/// clocks. Only the time limit of a race is real time.
public enum RaceKit {
    /// Runs races in order. One that takes longer than the limit, in real time, is ``RaceReport/Outcome/hung(_:)``: a
    /// race that holds takes milliseconds. An error of the closure that makes the subject is the outcome of the race.
    public static func run(
        _ scenarios: [RaceScenario] = RaceScenario.all, timeLimit: Duration = .seconds(60),
        makeSubject: @escaping @Sendable (RaceScene) async throws -> RaceSubject
    ) async -> RaceReport {
        var entries: [RaceReport.Entry] = []
        for scenario in scenarios {
            let trial = RaceTrial(makeSubject: makeSubject)
            let outcome = await outcome(of: scenario, in: trial, timeLimit: timeLimit)
            trial.cleanUp()
            entries.append(.init(scenario: scenario, outcome: outcome))
        }
        return RaceReport(entries: entries)
    }

    /// Runs races as ``run(_:timeLimit:makeSubject:)``, and throws an error that lists those that do not hold.
    ///
    /// - Throws: `ContractViolation` with every race that did not hold.
    public static func check(
        _ scenarios: [RaceScenario] = RaceScenario.all, timeLimit: Duration = .seconds(60),
        makeSubject: @escaping @Sendable (RaceScene) async throws -> RaceSubject
    ) async throws {
        let failures = await run(scenarios, timeLimit: timeLimit, makeSubject: makeSubject).failures
        guard !failures.isEmpty else { return }
        throw ContractViolation(
            contract: "RaceKit", subject: "the subject",
            brokenRules: failures.map { .init(name: "\($0.scenario)", observed: "\($0.outcome)") })
    }

    /// How many times other tasks can run after the time limit.
    private static let turns = 20_000

    private static func outcome(
        of scenario: RaceScenario, in trial: RaceTrial, timeLimit: Duration
    ) async -> RaceReport.Outcome {
        // Not a task group: that would wait for a subject that never returns.
        let ending = Race<RaceReport.Outcome>()
        let race = Task {
            do {
                try await scenario.experiment(trial)
                ending.end(.holds)
            } catch let error as RuleBroken {
                ending.end(.broken(error.observed))
            } catch {
                ending.end(.broken("while \(trial.step): \(error)"))
            }
        }
        let timer = Task {
            let clock = SystemTimeSource()
            try await clock.sleep(until: clock.uptime + timeLimit)
            // On a busy machine, tasks that can still make progress do so first.
            for _ in 0..<turns { await Task.yield() }
            ending.end(.hung(trial.step))
        }
        defer {
            timer.cancel()
            race.cancel()
        }
        return await ending.value()
    }
}
