import AuthInterface

/// The rules of refreshing, as a value: an event in, a new state and a list of actions out.
///
/// There is no task, clock, lock or I/O in here, so every race can be written down as a sequence of events. The shell,
/// ``TokenRefreshCoordinator``, runs the actions.
///
/// ```
///             load: none, ended          sign-in
///  unknown ──────────────────► signedOut ◄──────► signedIn (ActiveSession)
///     │                            ▲    sign-out,    ▲
///     │                            │    rejected,    │
///     └── load: a bundle ──────────┼──  ended ───────┘
/// ```
///
/// Its state is private: nothing outside can see or set what is true in it, but for the answers below.
struct RefreshStateMachine: Hashable, Sendable {
    private var state: MachineState

    init(settings: MachineSettings, random: RandomSource) {
        state = MachineState(settings: settings, random: random)
    }

    /// Takes an event.
    ///
    /// - Returns: What the shell must do, in this order.
    mutating func handle(_ event: RefreshEvent, at now: Instant) -> [RefreshAction] {
        state.handle(event, at: now)
    }

    /// The current token, where nothing has to be done for it (G18).
    ///
    /// - Complexity: O(1), without an allocation.
    func readyToken(at uptime: Duration) -> SessionToken? { state.readyToken(at: uptime) }

    /// What was published last.
    var published: SessionState { state.published }

    /// The tokens in use.
    var current: (bundle: TokenBundle, expiry: Expiry)? { state.current }

    /// What the store should hold, and does not hold yet.
    var unsavedContent: StoreContent? { state.unsavedContent }

    /// What is known of the session.
    var status: SessionStatus { state.status }
}
