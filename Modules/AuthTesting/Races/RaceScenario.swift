import AuthInterface

/// A known way to lose a session, as a race to run.
public struct RaceScenario: Sendable {
    /// The guarantee, such as `G1`.
    public let guarantee: String

    /// The rule, as a sentence. It does not change from run to run.
    public let name: String

    let experiment: @Sendable (RaceTrial) async throws -> Void

    init(_ guarantee: String, _ name: String, _ experiment: @escaping @Sendable (RaceTrial) async throws -> Void) {
        self.guarantee = guarantee
        self.name = name
        self.experiment = experiment
    }

    /// Every race, by topic.
    public static let all: [RaceScenario] = refreshing + cancellation + endings + sessions + failures + stores
}

extension RaceScenario: Hashable, CustomStringConvertible {
    /// Compares the names of two races.
    ///
    /// - Parameters:
    ///   - lhs: A race.
    ///   - rhs: Another race.
    /// - Returns: Whether the names are equal.
    public static func == (lhs: RaceScenario, rhs: RaceScenario) -> Bool { lhs.name == rhs.name }

    /// Hashes the name.
    ///
    /// - Parameter hasher: The hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// The guarantee and the name.
    public var description: String { "\(guarantee): \(name)" }
}
