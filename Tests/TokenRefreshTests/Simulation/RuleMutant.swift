@testable import TokenRefresh

/// The machine with one of its rules taken away.
struct RuleMutant: Sendable, CustomStringConvertible {
    /// The name of the rule, as `RefreshRules` has it.
    let rule: String
    /// What the simulation notices.
    let laws: Set<Law>
    let rules: RefreshRules

    var description: String { "without \(rule)" }

    init(_ rule: String, breaks laws: Set<Law>, _ take: (inout RefreshRules) -> Void) {
        self.rule = rule
        self.laws = laws
        var rules = RefreshRules()
        take(&rules)
        self.rules = rules
    }

    /// Every rule, once.
    static let all: [RuleMutant] = [
        .init("joinsRefreshInFlight", breaks: [.singleFlight, .deadline, .rotation, .pause]) {
            $0.joinsRefreshInFlight = false
        },
        .init("isLate", breaks: [.lateRefusal]) { $0.isLate = { _, _ in false } },
        .init("belongs", breaks: [.fence, .clock]) { $0.belongs = { _, _ in true } },
        .init("endsSession", breaks: [.verdict, .health, .pause]) { $0.endsSession = { _ in true } },
        .init("coolsDown", breaks: [.pause]) { $0.coolsDown = false },
        .init("hasDeadline", breaks: [.deadline]) { $0.hasDeadline = false },
        .init("mayCommit", breaks: [.backwards]) { $0.mayCommit = { _, _ in true } },
        .init("breaksLoops", breaks: [.loop]) { $0.breaksLoops = false },
        .init("storesBeforeUse", breaks: [.persistence]) { $0.storesBeforeUse = false },
        .init("keepsTokenAfterLostAnswer", breaks: [.verdict, .health]) { $0.keepsTokenAfterLostAnswer = false },
        .init("rereadsUnderLease", breaks: [.rotation, .singleFlight]) { $0.rereadsUnderLease = false },
        .init("rereadsAfterRejection", breaks: [.health]) { $0.rereadsAfterRejection = false },
        .init("toleratesUnavailableStore", breaks: [.store, .verdict]) { $0.toleratesUnavailableStore = false },
    ]
}
