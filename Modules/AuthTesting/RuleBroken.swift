/// The error of an experiment whose rule does not hold.
package struct RuleBroken: Error {
    package let observed: String

    package init(_ observed: String) {
        self.observed = observed
    }
}

/// Checks one expectation of an experiment.
///
/// - Parameters:
///   - holds: Whether the expectation holds.
///   - observed: What was observed instead.
/// - Throws: ``RuleBroken``.
package func expect(_ holds: Bool, otherwise observed: @autoclosure () -> String) throws(RuleBroken) {
    if !holds { throw RuleBroken(observed()) }
}
