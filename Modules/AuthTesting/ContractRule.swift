import AuthInterface
import ConcurrencyPrimitives

/// One rule of a contract: a sentence, and an experiment that shows whether it holds.
package struct ContractRule<Subject: Sendable>: Sendable {
    /// The rule, as a sentence.
    package let name: String

    private let experiment: @Sendable (Subject) async throws -> Void

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - name: The rule, as a sentence.
    ///   - experiment: Does something with a fresh subject. It throws ``RuleBroken``, or lets an error through that
    ///     the subject should not have thrown.
    package init(_ name: String, _ experiment: @escaping @Sendable (Subject) async throws -> Void) {
        self.name = name
        self.experiment = experiment
    }

    /// Makes the experiment.
    ///
    /// - Parameters:
    ///   - subject: A subject nobody else uses.
    ///   - patience: How long the experiment may take. One that takes longer is cancelled and not waited for.
    /// - Returns: The rule, if it is broken.
    package func broken(by subject: Subject, patience: Duration) async -> ContractViolation.BrokenRule? {
        let observed: String? = await withCheckedContinuation { continuation in
            let verdict = Verdict(continuation)
            let attempt = Task {
                do {
                    try await experiment(subject)
                    verdict.give(nil)
                } catch let error as RuleBroken {
                    verdict.give(error.observed)
                } catch {
                    verdict.give("threw \(error)")
                }
            }
            let watch = Task {
                try await Task.sleep(for: patience)
                verdict.give("did not end within \(patience)")
                attempt.cancel()
            }
            verdict.whenGiven { watch.cancel() }
        }
        return observed.map { ContractViolation.BrokenRule(name: name, observed: $0) }
    }
}

/// What an experiment throws when its rule does not hold.
package struct RuleBroken: Error {
    package let observed: String

    package init(_ observed: String) {
        self.observed = observed
    }
}

/// Checks one expectation of an experiment.
///
/// - Parameters:
///   - holds: Whether things are as the rule says.
///   - observed: How they are instead.
/// - Throws: ``RuleBroken``.
package func expect(_ holds: Bool, otherwise observed: @autoclosure () -> String) throws(RuleBroken) {
    if !holds { throw RuleBroken(observed()) }
}

extension ContractViolation {
    /// Runs all rules of a contract, one after the other, each on a subject of its own.
    ///
    /// - Parameters:
    ///   - contract: The name of the contract.
    ///   - rules: The rules.
    ///   - patience: How long one rule may take.
    ///   - makeSubject: Makes a subject, and says what type it is of.
    /// - Throws: ``ContractViolation`` if any rule is broken; what `makeSubject` throws.
    package static func check<Subject: Sendable>(
        _ contract: String,
        rules: [ContractRule<Subject>],
        patience: Duration,
        makeSubject: () async throws -> (subject: Subject, type: any Any.Type)
    ) async throws {
        var brokenRules: [BrokenRule] = []
        var type: any Any.Type = Subject.self
        for rule in rules {
            let made = try await makeSubject()
            type = made.type
            if let broken = await rule.broken(by: made.subject, patience: patience) { brokenRules.append(broken) }
        }
        guard brokenRules.isEmpty else {
            throw ContractViolation(contract: contract, subject: "\(type)", brokenRules: brokenRules)
        }
    }
}

/// The end of an experiment: whoever comes first says how it ended.
private final class Verdict: Sendable {
    private struct State {
        var continuation: CheckedContinuation<String?, Never>?
        var ending: (@Sendable () -> Void)?
    }

    private let state: Locked<State>

    init(_ continuation: CheckedContinuation<String?, Never>) {
        state = Locked(State(continuation: continuation))
    }

    func give(_ observed: String?) {
        let (continuation, ending) = state.withLock { state in
            defer { state = State() }
            return (state.continuation, state.ending)
        }
        continuation?.resume(returning: observed)
        ending?()
    }

    func whenGiven(_ ending: @escaping @Sendable () -> Void) {
        let isGiven = state.withLock { state in
            if state.continuation != nil { state.ending = ending }
            return state.continuation == nil
        }
        if isGiven { ending() }
    }
}
