import ConcurrencyPrimitives

/// One rule of a contract: a sentence, and an experiment that shows whether a subject keeps it.
package struct ContractRule<Subject: Sendable>: Sendable {
    package let name: String

    private let experiment: @Sendable (Subject) async throws -> Void

    /// Creates a rule: a sentence, and an experiment on a new subject that throws ``RuleBroken``.
    package init(_ name: String, _ experiment: @escaping @Sendable (Subject) async throws -> Void) {
        self.name = name
        self.experiment = experiment
    }

    /// Runs the experiment, and returns the rule if it is broken. An experiment that takes longer than the limit is
    /// cancelled and not awaited.
    package func broken(by subject: Subject, timeLimit: Duration) async -> ContractViolation.BrokenRule? {
        let clock = SystemTimeSource()
        // In a task of its own: the cancellation of this one does not end the experiment.
        let observed = await Task { () -> String? in
            do {
                let deadline = clock.uptime + timeLimit
                let end: Void? = try await clock.withDeadline(deadline) { try await experiment(subject) }
                return end == nil ? "did not end within \(timeLimit)" : nil
            } catch let error as RuleBroken {
                return error.observed
            } catch {
                return "threw \(error)"
            }
        }.value
        return observed.map { ContractViolation.BrokenRule(name: name, observed: $0) }
    }
}
