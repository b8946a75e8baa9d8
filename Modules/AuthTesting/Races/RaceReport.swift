/// The outcome of each race for a subject.
public struct RaceReport: Sendable {
    /// How a race ended.
    public enum Outcome: Sendable, Hashable {
        /// The guarantee held.
        case holds

        /// The guarantee did not hold, and what was observed instead.
        case broken(String)

        /// The race did not end within its time limit, and the step that it waited for.
        case hung(String)
    }

    /// A race and its outcome.
    public struct Entry: Sendable {
        /// The race.
        public let scenario: RaceScenario

        /// How it ended.
        public let outcome: Outcome
    }

    /// The races, in the order in which they ran.
    public let entries: [Entry]

    /// The races that do not hold, in order.
    public var failures: [Entry] { entries.filter { $0.outcome != .holds } }

    /// The outcome of one race; `nil` if it did not run.
    package func outcome(of scenario: RaceScenario) -> Outcome? { entries.first { $0.scenario == scenario }?.outcome }
}

extension RaceReport.Outcome: CustomStringConvertible {
    /// The outcome as text.
    public var description: String {
        switch self {
        case .holds: "holds"
        case .broken(let observed): "broken: \(observed)"
        case .hung(let step): "hung: \(step)"
        }
    }
}

extension RaceReport: CustomStringConvertible {
    /// A summary line, and a line for each race.
    public var description: String {
        let lines = entries.map { entry in
            "\n  \(entry.outcome == .holds ? "+" : "-") \(entry.scenario): \(entry.outcome)"
        }
        return "\(entries.count - failures.count) of \(entries.count) races hold\(lines.joined())"
    }
}
