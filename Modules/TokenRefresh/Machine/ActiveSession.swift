import AuthInterface
import Foundation

/// What an event means for the session as a whole.
enum SessionOutcome: Sendable {
    case goesOn
    /// The session is over. `inStore`: the store knows already.
    case ends(SignOutReason, revoking: TokenBundle?, inStore: Bool)
    /// Another process has signed in, and the store holds its session.
    case isReplaced(by: TokenBundle)
}

/// A session, and the refresh of its tokens.
///
/// ```
/// activating ──stored──► resting ──a request needs it──► refreshing ──► resting
///                          (shared store: leasing → reading →) recording → calling → storing
///                                            │                  │           └ rejected → verifying
///                                            └ newer: adopted   └ not writable: no call (G27)
/// ```
/// The machine keeps its session in private state: nothing outside the machine's files can see or set what is in here.
///
/// The call outlives the attempt: at the deadline those who wait are told, and the call keeps its place, and the lease,
/// until it has ended or was abandoned (rule 2, G8).
struct ActiveSession: Hashable, Sendable {
    enum Phase: Hashable, Sendable {
        /// A sign-in waits for its tokens to be stored. No request uses them before (G11).
        case activating(version: Int)
        case resting
        case refreshing(AttemptID, Stage)
    }

    enum Stage: Hashable, Sendable {
        /// Another process may hold the lease.
        case leasing
        /// Another process may have refreshed already.
        case reading
        /// The intent is on its way to the store (G27).
        case recording(Recording)
        /// The handler is at work.
        case calling(isReplay: Bool)
        /// The server has rejected the refresh token; another process may have newer ones.
        case verifying(TokenRefreshError)
        /// The new tokens are on their way to the store (G11).
        case storing(TokenBundle, Expiry, version: Int)
    }

    /// An intent on its way to the store.
    struct Recording: Hashable, Sendable {
        let intent: RefreshIntent
        let version: Int
        let since: Duration
        /// When the call is not made any more: other processes count on its end from the date of the intent.
        let callBefore: Duration
    }

    /// Whether a call may be made where an intent was found (rule 4).
    enum Turn {
        case now
        /// Another call may be under way, and the server forgives this one until then.
        case forgiven(until: Duration?)
        case later(in: Duration)
    }

    /// The call that spends, or has spent, the current refresh token.
    struct Call: Hashable, Sendable {
        let id: AttemptID
        let startedAt: Duration
        /// The generation of the bundle whose refresh token it spends.
        let generation: Int
        /// The record that the store holds, or is to hold.
        let intent: RefreshIntent
        /// It has passed its last limit.
        var isCancelled = false
        /// It has not ended although it was cancelled.
        var isAbandoned = false
        /// The write that marks its intent: it was abandoned, or the process is about to be suspended.
        var mark: Int?
        var isMarked = false

        /// Whether a failure means that the response was lost, and not that the server has answered.
        func isLost(by error: TokenRefreshError) -> Bool {
            !isCancelled && error.code == .unavailable && error.status == nil
        }
    }

    /// The last failed attempt (G6).
    struct Failure: Hashable, Sendable {
        let error: TokenRefreshError
        let at: Duration
        let until: Duration
        /// How many attempts have failed in a row.
        let inARow: Int
    }

    struct SeenIntent: Hashable, Sendable {
        let intent: RefreshIntent
        let at: Duration
    }

    /// The tokens in use. A record of a pending refresh is in the store only.
    var bundle: TokenBundle
    var expiry: Expiry
    /// Whether the store is known to have held a bundle of this session.
    var isStored: Bool
    /// Whether the store is known to have held the tokens in use.
    var isTokenStored: Bool
    /// A write of the tokens in use has failed, and the store was not read since. It may have stored them all the same,
    /// as when a connection breaks during the commit.
    var isStorageUncertain = false
    var replaced: EndScope

    var phase: Phase
    var call: Call?
    var waiting = Waiters()
    /// Those who wait for a pause to end, or for a sign-in to be stored.
    var queue = Waiters()
    /// The key of the calls with the current refresh token, once there was one (G12).
    var key: String?
    var failure: Failure?
    var failures = 0
    var wasAmbiguous = false
    var loops = LoopBreaker()
    /// When this process refreshed last.
    var refreshedAt: Duration?
    var lastRefresh: Date?
    /// Whether the expiry was counted from the receipt in this process, on the monotonic clock.
    var isCountedFromReceipt: Bool
    /// A write of this process has ended since the attempt started to read: it may have seen what was there before.
    var isReadStale = false
    /// Another process's intent, and when this process first saw it.
    var seenIntent: SeenIntent?

    /// A session that was signed in here. `scope`: whose tokens it replaces in the store.
    init(signedIn bundle: TokenBundle, _ expiry: Expiry, replacing scope: EndScope, _ context: inout MachineContext) {
        self.bundle = bundle
        self.expiry = expiry
        isStored = false
        isTokenStored = false
        isCountedFromReceipt = true
        replaced = scope
        phase = .resting
        phase = .activating(version: context.write(.bundle(bundle, over: .anything)))
    }

    /// A session that the store holds.
    init(stored bundle: TokenBundle, _ context: MachineContext) {
        self.bundle = bundle.with(pendingRefresh: nil)
        expiry = context.expiry(ofStored: bundle)
        isStored = true
        isTokenStored = true
        isCountedFromReceipt = false
        replaced = .sessions(bundle.session, replacing: [])
        phase = .resting
        key = bundle.pendingRefresh?.idempotencyKey
    }

    // MARK: What is known

    var isActivating: Bool { if case .activating = phase { true } else { false } }

    /// Whether the lease is needed: a call or a write owns it until it has ended (rule 2).
    var needsLease: Bool {
        if call != nil { return true }
        if case .refreshing(_, let stage) = phase {
            if case .leasing = stage { return false }
            return true
        }
        return false
    }

    var isIdle: Bool {
        if case .resting = phase { call == nil } else { false }
    }

    /// Whose tokens the store loses when the session ends.
    var endScope: EndScope { isStored ? .sessions(bundle.session, replacing: []) : replaced }

    /// The newest tokens of the session, those on their way to the store included: revoking older ones might leave the
    /// newest valid.
    var newestBundle: TokenBundle {
        if case .refreshing(_, .storing(let bundle, _, _)) = phase { bundle } else { bundle }
    }

    /// The token that costs nothing, and until when (G18).
    func readyToken(_ now: Instant) -> (token: SessionToken, until: Duration?)? {
        guard !isActivating else { return nil }
        guard isRefreshable else { return (token(), expiry.end) }
        guard let aheadFrom = expiry.aheadFrom, let leewayFrom = expiry.leewayFrom else { return (token(), nil) }
        // While no refresh can be started anyway, a valid token needs no look at the rules.
        guard canStart else { return (token(), leewayFrom) }
        return (token(), min(leewayFrom, max(aheadFrom, failure?.until ?? aheadFrom)))
    }

    var isRefreshable: Bool { bundle.refreshToken?.isEmpty == false }

    var canStart: Bool {
        guard case .resting = phase, call == nil else { return false }
        return true
    }

    func token(replacedAt uptime: Duration? = nil) -> SessionToken {
        var token = bundle.token
        token.handout = .init(failures: failures, replacedAt: uptime)
        return token
    }

    func pauseLeft(_ uptime: Duration) -> Duration? {
        failure.flatMap { $0.until > uptime ? $0.until - uptime : nil }
    }

    func fill(_ status: inout SessionStatus) {
        status.generation = bundle.generation
        status.isRefreshable = isRefreshable
        status.isRefreshing = !canStart && !isActivating
        status.expiresAt = bundle.expiresAt
        status.lastRefresh = lastRefresh
        status.lastFailure = failure?.error
    }

    /// The first read shows what a sign-in that came before it replaces in the store.
    mutating func noteReplaced(_ found: StoredSession?) {
        guard isActivating, case .active(let stored)? = found, stored.session != bundle.session else { return }
        replaced = EndScope.sessions(stored.session, replacing: replaced.sessions).followed(by: bundle.session)
    }
}
