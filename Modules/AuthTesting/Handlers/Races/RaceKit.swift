import AuthInterface

/// The known ways to lose a session, run against whatever you have.
///
/// Every race gets a fresh subject in a world of its own. Nothing sleeps: the races are made by gates at the places
/// where time would pass, and by clocks that are moved by hand. The one real clock is the guard around each race.
public enum RaceKit {
    /// Runs races, one after the other.
    ///
    /// - Parameters:
    ///   - scenarios: The races.
    ///   - patience: How long, in real time, a race may take before it counts as hung. A race that holds takes
    ///     milliseconds.
    ///   - makeSubject: Makes a subject in a world. An error it throws is the outcome of the race.
    /// - Returns: What became of each race.
    public static func run(
        _ scenarios: [RaceScenario] = RaceScenario.all,
        patience: Duration = .seconds(20),
        makeSubject: @escaping @Sendable (RaceScene) async throws -> RaceSubject
    ) async -> RaceReport {
        var entries: [RaceReport.Entry] = []
        for scenario in scenarios {
            let trial = RaceTrial(makeSubject: makeSubject)
            let outcome = await outcome(of: scenario, in: trial, patience: patience)
            trial.cleanUp()
            entries.append(.init(scenario: scenario, outcome: outcome))
        }
        return RaceReport(entries: entries)
    }

    /// Runs races and throws what did not hold.
    ///
    /// - Parameters:
    ///   - scenarios: The races.
    ///   - patience: As in ``run(_:patience:makeSubject:)``.
    ///   - makeSubject: As in ``run(_:patience:makeSubject:)``.
    /// - Throws: ``ContractViolation`` with every race that did not hold.
    public static func check(
        _ scenarios: [RaceScenario] = RaceScenario.all,
        patience: Duration = .seconds(20),
        makeSubject: @escaping @Sendable (RaceScene) async throws -> RaceSubject
    ) async throws {
        let failures = await run(scenarios, patience: patience, makeSubject: makeSubject).failures
        guard !failures.isEmpty else { return }
        throw ContractViolation(
            contract: "RaceKit",
            subject: "the subject",
            brokenRules: failures.map { .init(name: "\($0.scenario)", observed: "\($0.outcome)") }
        )
    }

    /// How often everybody else has their turn once patience is at its end.
    private static let turns = 20_000

    private static func outcome(
        of scenario: RaceScenario,
        in trial: RaceTrial,
        patience: Duration
    ) async -> RaceOutcome {
        // Not a task group: that would wait for a subject that never returns.
        let (outcomes, outcome) = AsyncStream.makeStream(of: RaceOutcome.self)
        let race = Task {
            do {
                try await scenario.experiment(trial)
                outcome.yield(.holds)
            } catch let error as RuleBroken {
                outcome.yield(.broken(error.observed))
            } catch is CancellationError where Task.isCancelled {
                outcome.yield(.hung(trial.step))
            } catch {
                outcome.yield(.broken("while \(trial.step): \(error)"))
            }
        }
        let guardian = Task {
            try await Task.sleep(for: patience)
            // Whoever is on the way is let through: on a busy machine time alone says little.
            for _ in 0..<turns { await Task.yield() }
            outcome.yield(.hung(trial.step))
        }
        let first = await outcomes.first { _ in true }
        guardian.cancel()
        race.cancel()
        return first ?? .hung(trial.step)
    }
}
