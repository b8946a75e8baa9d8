import ConcurrencyPrimitives

/// One rule of a contract: a sentence, and an experiment that shows whether a subject keeps it.
package struct ContractRule<Subject: Sendable>: Sendable {
    /// The rule, as a sentence.
    package let name: String

    private let experiment: @Sendable (Subject) async throws -> Void

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - name: The rule, as a sentence.
    ///   - experiment: Uses a new subject. It throws ``RuleBroken``, or an error that the subject should not have
    ///     thrown.
    package init(_ name: String, _ experiment: @escaping @Sendable (Subject) async throws -> Void) {
        self.name = name
        self.experiment = experiment
    }

    /// Runs the experiment.
    ///
    /// - Parameters:
    ///   - subject: A subject for this rule only.
    ///   - timeLimit: The longest time for the experiment. One that takes longer is cancelled and not awaited.
    /// - Returns: The rule, if it is broken.
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
