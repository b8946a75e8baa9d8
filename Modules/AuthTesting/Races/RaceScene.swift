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
