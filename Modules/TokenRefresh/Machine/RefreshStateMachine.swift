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

    init(settings: MachineSettings, random: RandomSource) {
        state = MachineState(settings: settings, random: random)
    }

    /// Takes an event.
    ///
    /// - Returns: What the shell must do, in this order.
    mutating func handle(_ event: RefreshEvent, at now: Instant) -> [RefreshAction] {
        state.handle(event, at: now)
    }

    /// The current token, if it needs no refresh (G18).
    ///
    /// - Complexity: O(1), without an allocation.
    func readyToken(at uptime: Duration) -> SessionToken? { state.readyToken(at: uptime) }

    /// The last published state.
    var published: SessionState { state.published }

    /// The tokens in use.
    var current: (bundle: TokenBundle, expiry: Expiry)? { state.current }

    /// The content that is not stored yet.
    var unsavedContent: StoreContent? { state.unsavedContent }

    /// A summary for a support screen.
    var status: SessionStatus { state.status }

    /// Until when no refresh starts, because the last one has failed. `nil`: there is no such pause.
    func pauseEnd(at uptime: Duration) -> Duration? { state.pauseEnd(at: uptime) }

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
}

/// An input of the machine.
enum RefreshEvent: Sendable {
    case requested(CallerRequest, WaiterID)
    case waiterCancelled(WaiterID)
    case signIn(TokenRefreshResult, SessionID, WaiterID)
    case signOut(SignOutReason, WaiterID)
    case serverDateNoted(Date)

    /// A shared store reports that it may have changed.
    case storeChanged
    /// The system is about to suspend the process.
    case suspensionNear

    /// The store was read. `ownerMayCall`: whether the owner of a stored intent may still be calling (rule 4).
    case read(ReadPurpose, Result<StoredSession, TokenStoreError>, ownerMayCall: Bool)
    /// `identity`: the name of the lease, for the intents that are recorded under it.
    case leased(AttemptID, identity: String? = nil)
    case leaseFailed(AttemptID, TokenStoreError)
    /// Another process has the lease for which an attempt waits.
    case leaseHeld(LeaseHolder)
    /// Another process may have the lease.
    case leaseLost(AttemptID)
    case wrote(version: Int, WriteOutcome)
    case responded(AttemptID, base: TokenBundle, Result<TokenRefreshResult, TokenRefreshError>)
    case timerFired(RefreshTimer)
}

/// A request of a caller.
enum CallerRequest: Hashable, Sendable {
    /// A token for a request that starts.
    case token
    /// A token in place of a refused one.
    case replacement(TokenRefusal)
    /// A refresh, independent of the expiry.
    case refresh
    /// The state, once the store has been read.
    case restore
    /// The end of all work under way.
    case settle
}

/// Why the store is read.
enum ReadPurpose: Hashable, Sendable {
    /// The first read.
    case load
    /// Under the lease, before a call; or after the server's rejection.
    case attempt(AttemptID)
    /// Another process may have changed it.
    case check
}

/// How a write to the store ended.
enum WriteOutcome: Hashable, Sendable {
    /// The content is stored. `replaced` is the bundle before it.
    case written(replaced: TokenBundle?)
    /// The store holds content that the write must not replace, and is unchanged.
    case superseded(by: StoredSession)
    case failed(TokenStoreError)
}

/// A timer of the machine. One that fires for something that has ended is ignored.
enum RefreshTimer: Hashable, Sendable {
    /// The waiters of an attempt fail as unavailable.
    case deadline(AttemptID)
    /// The waiters of an attempt that have waited since before it started fail as unavailable.
    case waiterDeadline
    /// A call is cancelled.
    case callLimit(AttemptID)
    /// A call that did not end when it was cancelled is abandoned.
    case abandonment(AttemptID)
    case cooldown(SessionID)
    case writeDeadline(version: Int)
    case storeRetry
    case reload
    case loadDeadline
    case checkDeadline
}

/// The callers that wait, their requests, and since when they wait.
struct Waiters: Hashable, Sendable {
    struct Waiter: Hashable, Sendable {
        let id: WaiterID
        let request: CallerRequest
        let since: Duration
    }

    private var waiters: [WaiterID: Waiter] = [:]

    var isEmpty: Bool { waiters.isEmpty }

    mutating func add(_ waiter: Waiter) { waiters[waiter.id] = waiter }

    /// - Returns: Whether the caller waited here.
    mutating func remove(_ id: WaiterID) -> Bool { waiters.removeValue(forKey: id) != nil }

    /// Since when the one waits that has waited for the longest time.
    var earliest: Duration? { waiters.values.lazy.map(\.since).min() }

    /// Takes out all, in the order in which they came.
    mutating func takeAll() -> [Waiter] {
        guard !waiters.isEmpty else { return [] }
        defer { waiters = [:] }
        return waiters.values.sorted { $0.id.number < $1.id.number }
    }

    /// Takes out those that have waited since an instant or longer, in the order in which they came.
    mutating func takeAll(since uptime: Duration) -> [Waiter] {
        let due = waiters.values.filter { $0.since <= uptime }.sorted { $0.id.number < $1.id.number }
        for waiter in due { waiters[waiter.id] = nil }
        return due
    }
}

typealias Waiter = Waiters.Waiter

/// An output of the machine. The shell runs the actions in this order and reports their results as events.
enum RefreshAction: Sendable {
    // Store. Each runs on its own; the machine starts the next one when it may.
    case read(ReadPurpose)
    case lease(AttemptID)
    case release(AttemptID)
    case write(version: Int, StoreContent)

    // Server.
    case call(AttemptID, base: TokenBundle, TokenRefreshRequest)
    case cancelCall(AttemptID)
    /// `besideAnother`: another session is signed in, so the handler must affect this one only (G9).
    case revoke(TokenBundle, besideAnother: Bool)

    // Clock.
    case startTimer(RefreshTimer, at: Duration)
    case stopTimer(RefreshTimer)

    // Callers and observers.
    case respond(WaiterID, RefreshResponse)
    case publish(SessionState)
    case report(SessionEvent)
}

/// The response to a caller. Each caller gets exactly one.
enum RefreshResponse: Sendable {
    case token(SessionToken)
    case state(SessionState)
    case done
    case failed(AuthenticationError)
    case cancelled
}
