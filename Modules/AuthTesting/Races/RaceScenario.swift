import AuthInterface
public import ContractTesting

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
    public static let all: [RaceScenario] = refreshing + sessions + failures
}

extension RaceScenario: Equatable, CustomStringConvertible {
    /// Compares the names of two races.
    public static func == (lhs: RaceScenario, rhs: RaceScenario) -> Bool { lhs.name == rhs.name }

    /// The guarantee and the name.
    public var description: String { "\(guarantee): \(name)" }
}

/// The server, the handler, the store and the clocks of one race. A subject that does not use the store or the clocks
/// fails the races that need them.
public struct RaceScene: Sendable {
    /// The server that issues the tokens.
    public let server: RotatingTokenServer

    /// The refresh handler.
    public let handler: ScriptedRefreshHandler

    /// The store.
    public let store: FaultyTokenStore<RecordingTokenStore>

    /// The clocks, which the race moves.
    public let clock: ManualTimeSource

    init() {
        let clock = ManualTimeSource()
        server = RotatingTokenServer(lifetime: .seconds(86_400))
        handler = ScriptedRefreshHandler(server: server)
        store = FaultyTokenStore(RecordingTokenStore(clock: clock))
        self.clock = clock
    }
}
