/// Which laws a run looks at.
struct Scope: Sendable {
    /// The only law that counts, broken in this way. `nil`: all laws.
    var only: Violation.Key?
    /// Violations that do not count.
    var without: Set<Violation.Key> = []
    /// A world goes on after a violation, and collects the first of each law.
    var isSurvey = false

    func contains(_ key: Violation.Key) -> Bool {
        only.map { $0 == key } ?? !without.contains(key)
    }
}
