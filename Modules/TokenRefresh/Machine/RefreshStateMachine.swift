import AuthInterface
import Foundation

/// The rules of refreshing, as a value: an event in, a new state and a list of actions out.
///
/// There is no task, clock, lock or I/O in here, so every race can be written down as a sequence of events. The shell,
/// ``TokenRefreshCoordinator``, runs the actions.
///
/// ```
///             load: none                 sign-in
///  unknown ───────────────► signedOut ◄──────────► signedIn ──┐ token asked, refused
///     │                         ▲      sign-out,      ▲  │    │
///     └── load: a bundle ───────┼──────rejected───────┘  └────┘
///
///  in signedIn, one attempt at a time:
///  (shared store: leasing → rereading →) calling → storing → done
///                                │           └ rejected → verifying → ended, or the other process's bundle
///                                └ somebody was faster: adopted, no call
/// ```
struct RefreshStateMachine: Sendable {
    enum Standing: Sendable, Equatable {
        case unknown
        case signedOut(SignOutReason)
        case signedIn
    }

    let policy: TokenRefreshPolicy
    let rules: RefreshRules
    let isShared: Bool

    var random: SplitMix64
    var standing: Standing = .unknown
    var session: Session?
    /// Those who wait for the refresh under way. They are kept beside the session, not in it: a rule that looks at the
    /// session copies the value, and with ten thousand waiters in it each new one would copy all the others.
    var waiting: [WaiterID: Waiting] = [:]
    /// Those who wait for a pause to end, or for a login to be stored.
    var queue: [WaiterID: Waiting] = [:]
    var desk = StoreDesk()
    var restoring = Restoring()
    var serverClock = ServerClock()
    /// What the session looks like from outside: what was published last.
    var state: SessionState = .unknown
    private var attempts = 0
    private var actions: [RefreshAction] = []

    /// The token that can be had for nothing, and until when (G18).
    private var ready: (token: SessionToken, until: Duration?)?

    /// Those who wait for the store's first answer.
    struct Restoring: Sendable {
        var isLoading = false
        var isTimed = false
        var failures = 0
        var askers: Set<WaiterID> = []
        var restorers: Set<WaiterID> = []
    }

    init(policy: TokenRefreshPolicy, isShared: Bool, seed: UInt64, rules: RefreshRules = RefreshRules()) {
        self.policy = policy
        self.isShared = isShared
        self.rules = rules
        random = SplitMix64(seed: seed)
    }

    /// The current token, where nothing has to be done for it.
    ///
    /// - Complexity: O(1), without an allocation.
    func readyToken(at uptime: Duration) -> SessionToken? {
        guard let ready else { return nil }
        if let until = ready.until, uptime >= until { return nil }
        return ready.token
    }

    /// Takes an event.
    ///
    /// - Returns: What the shell must do, in this order.
    mutating func handle(_ event: RefreshEvent, at now: Instant) -> [RefreshAction] {
        switch event {
        case .tokenAsked(let waiter): tokenAsked(waiter, now)
        case .tokenRefused(let token, let waiter): tokenRefused(token, waiter, now)
        case .restoreAsked(let waiter): restoreAsked(waiter, now)
        case .waiterCancelled(let waiter): waiterCancelled(waiter)
        case .signIn(let tokens, let session, let waiter): signIn(tokens.plausible, session, waiter, now)
        case .signOut(let waiter): signOut(waiter, now)
        case .serverDateNoted(let date): serverDateNoted(date, now)
        case .loaded(let result): loaded(result, now)
        case .leased(let id): leased(id, now)
        case .leaseFailed(let id, let error): leaseFailed(id, error, now)
        case .reread(let id, let result): reread(id, result, now)
        case .answered(let id, let base, let result): answered(id, base: base, result.map(\.plausible), now)
        case .wrote(let version, let outcome): wrote(version, outcome, now)
        case .timerFired(let timer): timerFired(timer, now)
        }
        noteReadyToken()
        defer { actions.removeAll(keepingCapacity: true) }
        return actions
    }

    mutating func emit(_ action: RefreshAction) {
        actions.append(action)
    }

    /// Takes out all who wait somewhere, in the order they came.
    mutating func take(
        _ place: WritableKeyPath<RefreshStateMachine, [WaiterID: Waiting]>
    ) -> [(waiter: WaiterID, kind: Waiting)] {
        defer { self[keyPath: place] = [:] }
        return self[keyPath: place].sorted { $0.key.number < $1.key.number }.map { ($0.key, $0.value) }
    }

    mutating func nextAttemptID() -> AttemptID {
        attempts += 1
        return AttemptID(number: attempts)
    }

    private mutating func timerFired(_ timer: RefreshTimer, _ now: Instant) {
        switch timer {
        case .deadline(let id): deadlinePassed(id, now)
        case .cooldown(let id): cooldownEnded(id, now)
        case .writeDeadline(let version): writeTookTooLong(version, now)
        case .storeRetry: beginWriting(now)
        case .reload: load(now)
        case .loadDeadline: loadTookTooLong(now)
        }
    }

    private mutating func noteReadyToken() {
        guard let session, session.activation == nil else {
            ready = nil
            return
        }
        ready = (session.bundle.token, session.expiry.aheadFrom)
    }
}
