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
        let observed: String? = await withCheckedContinuation { continuation in
            let outcome = ExperimentOutcome(continuation)
            let attempt = Task {
                do {
                    try await experiment(subject)
                    outcome.report(nil)
                } catch let error as RuleBroken {
                    outcome.report(error.observed)
                } catch {
                    outcome.report("threw \(error)")
                }
            }
            let watch = Task {
                try await Task.sleep(for: timeLimit)
                outcome.report("did not end within \(timeLimit)")
                attempt.cancel()
            }
            outcome.whenReported { watch.cancel() }
        }
        return observed.map { ContractViolation.BrokenRule(name: name, observed: $0) }
    }
}

/// The outcome of an experiment: the first report of it or of its time limit.
private final class ExperimentOutcome: Sendable {
    private struct State {
        var continuation: CheckedContinuation<String?, Never>?
        var ending: (@Sendable () -> Void)?
    }

    private let state: Locked<State>

    init(_ continuation: CheckedContinuation<String?, Never>) {
        state = Locked(State(continuation: continuation))
    }

    func report(_ observed: String?) {
        let (continuation, ending) = state.withLock { state in
            defer { state = State() }
            return (state.continuation, state.ending)
        }
        continuation?.resume(returning: observed)
        ending?()
    }

    func whenReported(_ ending: @escaping @Sendable () -> Void) {
        let isReported = state.withLock { state in
            if state.continuation != nil { state.ending = ending }
            return state.continuation == nil
        }
        if isReported { ending() }
    }
}
