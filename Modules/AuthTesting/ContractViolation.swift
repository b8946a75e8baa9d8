/// What a contract suite throws: every rule an implementation breaks, and what was seen instead.
///
/// A suite runs all its rules before it throws, knows no test framework, and so works in all of them:
///
/// ```swift
/// @Test func honoursTheContract() async throws {
///     try await TokenStoreContract.check { PartnerTokenStore() }
/// }
/// ```
public struct ContractViolation: Error, Sendable {
    /// A rule that was broken.
    public struct BrokenRule: Sendable, Hashable {
        /// The rule, as a sentence. It is the same from run to run.
        public let name: String

        /// What was seen instead.
        public let observed: String

        /// Creates a broken rule.
        ///
        /// - Parameters:
        ///   - name: The rule, as a sentence.
        ///   - observed: What was seen instead.
        public init(name: String, observed: String) {
            self.name = name
            self.observed = observed
        }
    }

    /// The contract, such as `TokenStoreContract`.
    public let contract: String

    /// What was checked, by its type.
    public let subject: String

    /// The broken rules in the order of the contract; never none.
    public let brokenRules: [BrokenRule]

    /// Creates a violation.
    ///
    /// - Parameters:
    ///   - contract: The contract.
    ///   - subject: What was checked, by its type.
    ///   - brokenRules: The broken rules in the order of the contract.
    public init(contract: String, subject: String, brokenRules: [BrokenRule]) {
        self.contract = contract
        self.subject = subject
        self.brokenRules = brokenRules
    }
}

extension ContractViolation: CustomStringConvertible {
    /// One line for the whole, and one for each broken rule.
    public var description: String {
        let rules = brokenRules.map { "\n  - \($0.name): \($0.observed)" }.joined()
        return "\(subject) breaks \(brokenRules.count) of the rules of \(contract):\(rules)"
    }
}
