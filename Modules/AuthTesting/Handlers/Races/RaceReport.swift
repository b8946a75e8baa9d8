import AuthInterface

/// How a race ended.
public enum RaceOutcome: Sendable, Hashable {
    /// The guarantee held.
    case holds

    /// It did not, and what was seen instead.
    case broken(String)

    /// The race did not end in the time it had, and what it waited for.
    case hung(String)
}

extension RaceOutcome: CustomStringConvertible {
    /// The outcome in words.
    public var description: String {
        switch self {
        case .holds: "holds"
        case .broken(let observed): "broken: \(observed)"
        case .hung(let step): "hung: \(step)"
        }
    }
}

/// What became of a subject in each race.
public struct RaceReport: Sendable {
    /// One race and its outcome.
    public struct Entry: Sendable {
        /// The race.
        public let scenario: RaceScenario

        /// How it ended.
        public let outcome: RaceOutcome
    }

    /// The races in the order they were run.
    public let entries: [Entry]

    /// Whether every guarantee held.
    public var isClean: Bool { entries.allSatisfy { $0.outcome == .holds } }

    /// The races that did not end well, in order.
    public var failures: [Entry] { entries.filter { $0.outcome != .holds } }

    /// The outcome of one race.
    ///
    /// - Parameter scenario: The race.
    /// - Returns: Its outcome; `nil` if it was not run.
    public func outcome(of scenario: RaceScenario) -> RaceOutcome? {
        entries.first { $0.scenario == scenario }?.outcome
    }
}

extension RaceReport: CustomStringConvertible {
    /// One line for the whole, and one for each race.
    public var description: String {
        let lines = entries.map { entry in
            "\n  \(entry.outcome == .holds ? "+" : "-") \(entry.scenario): \(entry.outcome)"
        }
        return "\(entries.count - failures.count) of \(entries.count) races hold\(lines.joined())"
    }
}
