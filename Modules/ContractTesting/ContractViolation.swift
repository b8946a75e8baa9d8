/// The error of a contract suite: every rule that an implementation breaks, and what was observed instead.
///
/// A suite runs all its rules before it throws. It uses no test framework, and works with every one:
///
/// ```swift
/// @Test func `my store keeps the contract`() async throws {
///     try await TokenStoreContract.check { PartnerTokenStore() }
/// }
/// ```
public struct ContractViolation: Error, Sendable {
    package struct BrokenRule: Sendable, Hashable {
        /// The rule, as a sentence. It does not change from run to run.
        package let name: String

        package let observed: String

        package init(name: String, observed: String) {
            self.name = name
            self.observed = observed
        }
    }

    /// The contract, such as `TokenStoreContract`.
    package let contract: String

    /// The type that was checked.
    package let subject: String

    /// The broken rules, in the order of the contract. Not empty.
    package let brokenRules: [BrokenRule]

    package init(contract: String, subject: String, brokenRules: [BrokenRule]) {
        self.contract = contract
        self.subject = subject
        self.brokenRules = brokenRules
    }
}

extension ContractViolation: CustomStringConvertible {
    /// A summary line, and a line for each broken rule.
    public var description: String {
        let rules = brokenRules.map { "\n  - \($0.name): \($0.observed)" }.joined()
        return "\(subject) breaks \(brokenRules.count) of the rules of \(contract):\(rules)"
    }
}

extension ContractViolation {
    /// Runs the rules of a contract in order, each with a new subject, which is made with the type to report.
    ///
    /// - Throws: ``ContractViolation`` if any rule is broken; the errors of `makeSubject`.
    package static func check<Subject: Sendable>(
        _ contract: String, rules: [ContractRule<Subject>], timeLimit: Duration,
        makeSubject: () async throws -> (subject: Subject, type: any Any.Type)
    ) async throws {
        var brokenRules: [BrokenRule] = []
        var type: any Any.Type = Subject.self
        for rule in rules {
            let made = try await makeSubject()
            type = made.type
            if let broken = await rule.broken(by: made.subject, timeLimit: timeLimit) { brokenRules.append(broken) }
        }
        guard brokenRules.isEmpty else {
            throw ContractViolation(contract: contract, subject: "\(type)", brokenRules: brokenRules)
        }
    }
}

/// The error of an experiment whose rule does not hold.
package struct RuleBroken: Error {
    package let observed: String

    package init(_ observed: String) { self.observed = observed }
}

/// Checks one expectation of an experiment, and says what was observed instead.
///
/// - Throws: ``RuleBroken``.
package func expect(_ holds: Bool, otherwise observed: @autoclosure () -> String) throws(RuleBroken) {
    if !holds { throw RuleBroken(observed()) }
}
