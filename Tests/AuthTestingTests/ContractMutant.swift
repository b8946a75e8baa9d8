import ContractTesting
import Testing

/// What keeps every rule of a contract until a test alters one of its calls.
protocol Alterable: Sendable {
    init()
}

/// A way to break one rule of a contract.
struct ContractMutant<Subject: Alterable>: Sendable, CustomTestStringConvertible {
    let rule: String
    let fault: String
    private let alter: @Sendable (inout Subject) -> Void

    var testDescription: String { fault }

    init(_ rule: String, by fault: String, _ alter: @escaping @Sendable (inout Subject) -> Void) {
        (self.rule, self.fault, self.alter) = (rule, fault, alter)
    }

    /// A way that alters one call.
    init<Call: Sendable>(
        _ rule: String, by fault: String, _ call: any WritableKeyPath<Subject, Call> & Sendable, _ altered: Call
    ) { self.init(rule, by: fault) { $0[keyPath: call] = altered } }

    func make() -> Subject {
        var subject = Subject()
        alter(&subject)
        return subject
    }

    /// Checks that the contract finds the rule broken.
    @discardableResult
    func expectViolation(of check: (() -> Subject) async throws -> Void) async -> ContractViolation? {
        let violation = await #expect(throws: ContractViolation.self) { try await check(make) }
        let broken = violation?.brokenRules.map(\.name) ?? []
        #expect(broken.contains(rule), "\(broken)")
        return violation
    }
}
