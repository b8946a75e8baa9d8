import AuthInterface
import Foundation

/// How a session ends. In a box: the context has room for one with each event.
indirect enum SessionOutcome: Sendable {
    /// The session has ended. `inStore`: the store holds its end already.
    case ends(SignOutReason, revoking: TokenBundle?, inStore: Bool)
    /// Another process has signed in, and the store holds its session.
    case isReplaced(by: TokenBundle)
}

/// A session, and the refresh of its tokens.
///
/// ```
/// activating ──stored──► resting ──a request needs it──► refreshing ──► resting
///                          (shared store: leasing → reading →) recording → calling → storing
///                                            │                  │           └ rejected → verifying → ending
///                                            └ newer: adopted   └ not writable: no call (G27)
/// ```
/// The machine keeps its session in private state: nothing outside the machine's files can see or set what is in here.
///
/// The call can outlive the attempt: at the deadline the waiters fail, and the call continues and keeps the lease until
/// it has ended or is abandoned (rule 2, G8).
///
/// What its rules do beside the session are effects: actions, writes, and at most one outcome. They are collected in
/// the context, which the machine lends it for one event.
struct ActiveSession: Hashable, Sendable {
    enum Phase: Hashable, Sendable {
        /// A sign-in waits for its tokens to be stored. No request uses them before (G11).
        case activating(version: Int)
        case resting
        case refreshing(AttemptID, Stage)
    }

    /// In a box: a phase is looked at with each event, and changes rarely.
    indirect enum Stage: Hashable, Sendable {
        /// Another process may hold the lease.
        case leasing
        /// Another process may have refreshed already. `isStale`: the read may not show a write that has ended since.
        case reading(isStale: Bool)
        /// The intent is being stored (G27).
        case recording(Recording)
        /// The handler has been called.
        case calling(isReplay: Bool)
        /// The server has rejected the refresh token; another process may have newer ones.
        case verifying(TokenRefreshError, isStale: Bool)
        /// The store holds nothing newer, and the end of the session is being stored (G13).
        case ending(SignOutReason, version: Int)
        /// The new tokens are being stored (G11).
        case storing(Renewal, version: Int)
    }

    /// An intent that is being stored, and the limits of its call.
    struct Recording: Hashable, Sendable {
        let intent: RefreshIntent
        /// The intent that it replaces: it counts again where the call is not made. That of a replay is its own, as the
        /// call before it was made.
        var replaced: RefreshIntent?
        let version: Int
        /// From then on the limits and the tolerance count: the record of the intent, or the call that it repeats.
        let since: Duration
        /// From then on no byte of the call may be written: other processes count its limits from the date of the
        /// intent (G28).
        let startBefore: Duration
    }

    /// Whether a call may be made where an intent was found (rule 4).
    enum CallPermission {
        case now
        /// Another call may be under way, and the server tolerates this one.
        case tolerated(Repetition)
        case later(in: Duration)
    }

    /// A call beside another one that may be under way. Where the tolerance of the server is a time, it counts from the
    /// first call, so the intent of the repetition has the date of the first one, and both have one limit.
    struct Repetition: Hashable, Sendable {
        var date: Date?
        var since: Duration?
    }

    /// The key of all calls with one refresh token.
    struct CallKey: Hashable, Sendable {
        let value: String
        /// A call may have been made with it.
        var isUsed: Bool
        /// When the first call was made whose response may still arrive, or be repeated: the tokens of any response
        /// have been valid since then. `nil`: there was none.
        var firstCall: Instant?
        /// When this process made the key: no call was made with it before. `nil`: another one made it.
        private var madeAt: Duration?

        /// The key of a call that was recorded earlier. `own`: what this process knows of the key.
        init?(of intent: RefreshIntent?, knownAs own: CallKey? = nil, _ moment: Moment) {
            guard let intent else { return nil }
            let first = intent.firstDate ?? intent.date
            madeAt = own.flatMap { $0.value == intent.idempotencyKey ? $0.madeAt : nil }
            (value, isUsed) = (intent.idempotencyKey, true)
            if intent.firstDate == nil, RefreshStatus(intent.failure?.status).provesNoExchange { return }
            let shown = moment.timePassed(since: first).map { moment.uptime - $0 }
            firstCall = Instant(uptime: max(shown ?? .zero, madeAt ?? shown ?? moment.uptime), date: first)
        }

        /// The key, once a call is made with it.
        func used(at now: Instant) -> CallKey {
            var key = self
            key.isUsed = true
            if firstCall == nil { key.firstCall = now }
            return key
        }

        init(new value: String, at uptime: Duration) {
            (self.value, isUsed, madeAt) = (value, false, uptime)
        }
    }

    /// The call that spends, or has spent, the current refresh token.
    struct Call: Hashable, Sendable {
        let id: AttemptID
        /// Its intent, which the store holds or is to hold.
        let recording: Recording
        /// The generation of the bundle whose refresh token it spends.
        let generation: Int
        /// What was known of its key before it.
        let keyBefore: CallKey
        var progress = Progress.underWay
        var mark = Mark.none

        enum Progress: Hashable, Sendable {
            case underWay
            /// It has passed its second limit.
            case cancelled
            /// It has not ended although it was cancelled.
            case abandoned
        }

        var intent: RefreshIntent { recording.intent }

        /// Whether no response to an earlier call with the key can come in place of its own.
        var isFirst: Bool { keyBefore.firstCall == nil }

        /// The mark of its intent: the call was abandoned, or the process is about to be suspended.
        enum Mark: Hashable, Sendable {
            case none
            case writing(version: Int)
            case stored
        }

        /// Whether a failure means that the response was lost, and not that the server has refused.
        func isLost(by error: TokenRefreshError) -> Bool {
            progress == .underWay && error.code == .unavailable && error.status == nil
        }
    }

    /// What the store is known to have held of this session.
    enum Persistence: Hashable, Sendable {
        /// No bundle. Its first write is to replace some sessions. `isUncertain`: a write has failed, and the store was
        /// not read since. It may have stored a bundle all the same, as when a connection breaks during the commit.
        case nothing(replacing: EndScope, isUncertain: Bool)
        /// A bundle, and not the tokens in use.
        case older
        /// The tokens in use.
        case current
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

    /// The tokens in use. An intent is in the store only.
    var bundle: TokenBundle
    /// How long the access token is valid.
    var validity: TokenValidity
    /// The endpoints that have refused it although it was fresh (G10).
    var loops = LoopBreaker()
    var persistence: Persistence

    var phase: Phase
    var call: Call? { didSet { isCalling = call != nil } }
    /// Whether there is one. Each event asks, and a look at the call would copy it.
    private(set) var isCalling = false
    /// When the next waiter of the attempt fails that has waited since before it started.
    var waitersEnd: Duration?
    /// The key of all calls with the current refresh token. `nil`: there was none (G12).
    var key: CallKey?
    /// The last failed attempt.
    var failure: Failure?
    var failures = 0
    /// The ambiguous refusals in a row.
    var doubt: Doubt?
    /// The newest failure that another process, or an earlier run of this one, has stored with the intent (rule 7).
    var seenFailure: RefreshIntent.Failure?
    var lastRefresh: Date?
    /// When the session was signed in here, on the device's clock. `nil`: elsewhere, or not known.
    var begunAt: Date?
    /// When the store has held the tokens in use. `nil`: not known, or they have no lifetime.
    var sighting: StoreSighting?
    /// Another process's intent, and when this process first saw it.
    var seenIntent: SeenIntent?
    /// The process that keeps this one from refreshing.
    var leaseHolder: LeaseHolder?
    /// Whether the tokens in use replace what another process has stored of the session.
    var precedence = Precedence.none
    /// The call that may bring the next refresh token, as a step-up has left the one before in use.
    var heir: AttemptID?
    /// The generation before the last step-ups that have left the refresh token in use, and that of the last one.
    var stepUps: ClosedRange<Int>?
    /// The refresh token that the newest one has replaced. A step-up in another process may have left it in use there.
    var spent: String?
    /// The keys that step-ups have replaced. They are released once no stored token is bound to them (G34).
    var formerBindings: [TokenBinding] = []

    /// What the rules use beside the session, while it handles an event. `nil` between two events.
    var context: MachineContext!

    /// A session that was signed in here. `scope`: whose tokens it replaces in the store. `version`: that of its write.
    init(signedIn bundle: TokenBundle, _ validity: TokenValidity, replacing scope: EndScope, version: Int) {
        self.bundle = bundle
        self.validity = validity
        persistence = .nothing(replacing: scope, isUncertain: false)
        begunAt = bundle.begunAt
        phase = .activating(version: version)
    }

    /// A session that the store holds. `earlier`: when it held the tokens before these.
    init(stored bundle: TokenBundle, after earlier: StoreSighting?, _ moment: Moment) {
        self.bundle = bundle.with(refreshIntent: nil)
        validity = TokenValidity(stored: bundle, after: earlier, moment)
        persistence = .current
        phase = .resting
        key = CallKey(of: bundle.refreshIntent, moment)
    }

    // MARK: The context

    var moment: Moment { context.moment }
    var now: Instant { context.moment.now }
    var uptime: Duration { context.moment.uptime }
    var policy: TokenRefreshPolicy { context.moment.policy }
    var settings: MachineSettings { context.moment.settings }

    mutating func emit(_ action: RefreshAction) { context.emit(action) }

    mutating func conclude(_ outcome: SessionOutcome) { context.conclude(outcome) }

    // MARK: What is known

    var isActivating: Bool { if case .activating = phase { true } else { false } }

    var isIdle: Bool { if case .resting = phase { true } else { false } }

    /// Whether the store is known to have held a bundle of this session.
    var isStored: Bool { if case .nothing = persistence { false } else { true } }

    /// Whether tokens that were refreshed are in this process only.
    var isUnsaved: Bool { isStoring || persistence == .older }

    /// The sessions whose tokens are removed from the store when this session ends.
    var endScope: EndScope {
        if case .nothing(let replaced, _) = persistence { replaced } else { .sessions(bundle.session, replacing: []) }
    }

    /// The scope of a session whose refresh token the server has rejected.
    var rejectedScope: EndScope {
        guard case .nothing(let replaced, _) = persistence else { return .rejected(bundle, replacing: []) }
        return .rejected(bundle, replacing: replaced.sessions)
    }

    /// The newest tokens of the session, including those that are being stored: revoking older ones might leave the
    /// newest valid.
    var newestBundle: TokenBundle {
        if case .refreshing(_, .storing(let renewal, _)) = phase { renewal.bundle } else { bundle }
    }

    /// The token that can be used without an event, and until when (G18).
    func readyToken() -> MachineState.ReadyToken? {
        guard !isActivating else { return nil }
        func ready(until end: Duration?) -> MachineState.ReadyToken { .init(token: token(), until: end) }
        let expiry = validity.expiry
        guard isRefreshable else { return ready(until: expiry.end) }
        guard let aheadFrom = expiry.aheadFrom, let leewayFrom = expiry.leewayFrom else { return ready(until: nil) }
        // While no refresh can start, a valid token can be used until its leeway.
        guard canStart else { return ready(until: leewayFrom) }
        let pauseEnd = failure?.until ?? aheadFrom
        let start = max(aheadFrom, pauseEnd, context.moment.quietUntil ?? aheadFrom)
        return ready(until: min(leewayFrom, start))
    }

    // Inlined: a call would copy the session for it.
    @inline(__always)
    var isRefreshable: Bool { bundle.refreshToken?.isEmpty == false }

    var canStart: Bool { if case .resting = phase { !isCalling } else { false } }

    /// The access token, for a request. It shares what it has in common with the last one.
    func token(replacedAt uptime: Duration? = nil) -> SessionToken {
        var token = bundle.token(sharing: context.lastToken)
        token.handout = .init(failures: failures, replacedAt: uptime)
        return token
    }

    /// How close the access token is to its end.
    var urgency: Expiry.Urgency { validity.expiry.urgency(at: uptime) }

    /// The time until the next attempt may start, where the last one has failed.
    var pauseLeft: Duration? {
        failure.flatMap { $0.until > uptime ? $0.until - uptime : nil }
    }

    func fill(_ status: inout SessionStatus) {
        status.generation = bundle.generation
        status.isRefreshable = isRefreshable
        status.isRefreshing = !canStart && !isActivating
        status.expiresAt = bundle.expiresAt
        status.lastRefresh = lastRefresh
        status.lastFailure = failure?.error
        status.leaseHolder = leaseHolder
    }

    /// The first read shows what an earlier sign-in replaces in the store: not a sign-in that was asked for later.
    mutating func recordReplaced(_ found: StoredSession?) {
        guard isActivating, case .active(let other)? = found, other.session != bundle.session,
            case .nothing(let replaced, let isUncertain) = persistence,
            !other.hasBegun(after: begunAt, foundAt: now.date)
        else { return }
        let scope = EndScope.sessions(other.session, replacing: replaced.sessions).followed(by: bundle.session)
        persistence = .nothing(replacing: scope, isUncertain: isUncertain)
    }

    /// The store has been read. Without an intent, no refresh of its tokens was under way.
    mutating func recordSighting(_ stored: TokenBundle) {
        guard stored.refreshIntent == nil, stored.hasSameTokens(as: bundle), stored.lifetime != nil else { return }
        sighting = StoreSighting(unchangedAt: uptime)
    }

    /// The store holds a bundle of this session. `isCurrent`: with the tokens in use.
    mutating func markStored(isCurrent: Bool) {
        if isCurrent { persistence = .current } else if !isStored { persistence = .older }
    }

    /// A write has failed that may have stored a bundle all the same, or a read shows whether it has.
    mutating func markUncertain(_ isUncertain: Bool) {
        guard case .nothing(let replaced, _) = persistence else { return }
        persistence = .nothing(replacing: replaced, isUncertain: isUncertain)
    }
}

/// A session in a place of its own, so that the state of the machine is small: its values are as large as its largest
/// case, and are moved as it changes.
final class SessionBox: @unchecked Sendable {  // It is changed by its only owner: see `modifySession`.
    @exclusivity(unchecked) var value: ActiveSession

    init(_ value: ActiveSession) { self.value = value }

    /// Whether the lease is needed: a call or a write owns it until it has ended (rule 2). Here, as each event asks for
    /// it, and a question to the value would copy the value.
    var needsLease: Bool {
        if value.isCalling { return true }
        if case .refreshing(_, let stage) = value.phase {
            if case .leasing = stage { return false }
            return true
        }
        return false
    }
}

extension SessionBox: Hashable {
    static func == (first: SessionBox, second: SessionBox) -> Bool { first === second || first.value == second.value }

    func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
