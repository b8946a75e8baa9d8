import AuthInterface
import Foundation

/// The rules of refreshing, as a value: an event in, a new state and a list of actions out.
///
/// It has no task, clock, lock or I/O, so every race can be written as a sequence of events. The shell,
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
/// Its state is private: the properties below are the only access to it.
struct RefreshStateMachine: Hashable, Sendable {
    private var state: MachineState

    init(settings: MachineSettings, random: RandomSource = RandomSource()) {
        state = MachineState(context: Context(settings: settings, random: random))
    }

    /// Takes an event. Returns what the shell must do, in this order.
    mutating func handle(_ event: RefreshEvent, at now: Instant) -> [RefreshAction] {
        state.handle(event, at: now)
    }

    /// The token that can be used without an event, and until when (G18). It changes with events only.
    var ready: MachineState.ReadyToken? { state.active?.value.readyToken(state.context.clock) }

    var published: SessionState { state.published }

    /// The tokens in use.
    var current: (bundle: TokenBundle, expiry: Expiry)? {
        state.active.map { ($0.value.bundle, $0.value.window.expiry) }
    }

    var unsavedContent: StoreContent? { state.context.store.missing }
    var status: SessionStatus { state.status }

    /// Until when no refresh starts, because the last one has failed. `nil`: there is no such pause.
    func pauseEnd(at uptime: Duration) -> Duration? {
        state.active?.value.pacing.failure.map(\.until).flatMap { $0 > uptime ? $0 : nil }
    }

    /// Whether no work is under way, and everything is stored.
    var isIdle: Bool { state.isIdle }
}

/// A caller that waits for a response of the machine.
struct WaiterID: Hashable, Sendable { let number: Int }

/// One attempt to refresh, and the lease and the call that it uses.
struct AttemptID: Hashable, Sendable { let number: Int }

/// An instant on both clocks: the monotonic one, and the one that can be set.
struct Instant: Hashable, Sendable {
    let uptime: Duration
    let date: Date
    /// How much of the uptime the device has slept, as far as that is known.
    var asleep: Duration = .zero
}
