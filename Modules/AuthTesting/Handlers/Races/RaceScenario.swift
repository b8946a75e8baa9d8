import AuthInterface

/// A known way to lose a session, as a race to be run: a situation in which others fail.
public struct RaceScenario: Sendable {
    /// The guarantee it is about, such as `G1`.
    public let guarantee: String

    /// What must be, as a sentence. It is the same from run to run.
    public let name: String

    let experiment: @Sendable (RaceTrial) async throws -> Void

    init(_ guarantee: String, _ name: String, _ experiment: @escaping @Sendable (RaceTrial) async throws -> Void) {
        self.guarantee = guarantee
        self.name = name
        self.experiment = experiment
    }

    /// Every race of the kit, in the order of the guarantees.
    public static let all: [RaceScenario] = refreshing + cancellation + endings + sessions + failures + stores
}

extension RaceScenario: Hashable, CustomStringConvertible {
    /// Two races are the same if they have the same name.
    ///
    /// - Parameters:
    ///   - lhs: A race.
    ///   - rhs: Another.
    /// - Returns: Whether they are the same.
    public static func == (lhs: RaceScenario, rhs: RaceScenario) -> Bool { lhs.name == rhs.name }

    /// Hashes the name.
    ///
    /// - Parameter hasher: Takes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// The guarantee and the name.
    public var description: String { "\(guarantee): \(name)" }
}
