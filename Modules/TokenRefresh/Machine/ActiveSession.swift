import AuthInterface
import Foundation

/// How a session ends.
enum SessionOutcome: Sendable {
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

    /// What the store is known to have held of this session.
    enum Persistence: Hashable, Sendable {
        /// No bundle. Its sign-in `ends` sessions up to an ordinal. `isUncertain`: a write has failed, and the store
        /// was not read since. It may have stored a bundle all the same, as when a connection breaks during the commit.
        case nothing(ends: SessionOrdinal?, isUncertain: Bool)
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
    var bundle: TokenBundle { didSet { baseToken = bundle.token } }
    /// The access token, which all requests share.
    private var baseToken: SessionToken
    /// How long the access token is valid.
    var validity: TokenValidity
    /// The endpoints that have refused it although it was fresh (G10).
    var loops = LoopBreaker()
    var persistence: Persistence

    var phase: Phase
    var call: Call?
    /// When the next waiter of the attempt fails that has waited since before it started.
    var waitersEnd: Duration?
    /// The key of all calls with the current refresh token. `nil`: there was none (G12).
    var key: CallKey?
    /// The last failed attempt.
    var failure: Failure?
    var failures = 0
    /// The ambiguous refusals in a row.
    var refusals: AmbiguousRefusals?
    /// What the server demands of the user before it issues tokens again.
    var userAction: UserAction?
    /// The newest failure that another process, or an earlier run of this one, has stored with the intent (rule 7).
    var seenFailure: RefreshIntent.Failure?
    var lastRefresh: Date?
    /// When the store has held the tokens in use. `nil`: not known, or they have no lifetime.
    var sighting: StoreSighting?
    /// Another process's intent, and when this process first saw it.
    var seenIntent: SeenIntent?
    /// The process that keeps this one from refreshing.
    var leaseHolder: LeaseHolder?
    /// Whether the tokens in use replace what another process has stored of the session.
    var precedence = Precedence.none
    /// The keys that step-ups have replaced. They are released once no stored token is bound to them (G34).
    var formerBindings: [TokenBinding] = []

    /// What the rules use beside the session, while it handles an event. `nil` between two events.
    var context: MachineContext!

    /// A session that was signed in here. `ends`: up to which ordinal it ends others. `version`: that of its write.
    init(signedIn bundle: TokenBundle, _ validity: TokenValidity, ends: SessionOrdinal?, version: Int) {
        self.bundle = bundle
        baseToken = bundle.token
        self.validity = validity
        persistence = .nothing(ends: ends, isUncertain: false)
        phase = .activating(version: version)
    }

    /// A session that the store holds. `earlier`: when it held the tokens before these.
    init(stored bundle: TokenBundle, after earlier: StoreSighting?, _ moment: Moment) {
        self.bundle = bundle.with(refreshIntent: nil)
        baseToken = bundle.token
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

    /// Whether the newest tokens may be in this process only.
    var isUnsaved: Bool { isStoring || persistence != .current }

    /// The sessions whose tokens are removed from the store when the user signs out.
    func endScope(upTo ordinal: SessionOrdinal) -> EndScope {
        isStored ? .session(bundle.session, upTo: ordinal) : .unread(upTo: ordinal)
    }

    /// The scope of a session whose refresh token the server has rejected.
    var rejectedScope: EndScope {
        if case .nothing(let ends, _) = persistence { return .rejected(bundle, replacing: ends) }
        return .rejected(bundle, replacing: nil)
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

    var isRefreshable: Bool { settings.canRefresh(bundle) }

    var isCalling: Bool { call != nil }

    /// Rule 2: a call or a write owns the lease until it has ended.
    var needsLease: Bool {
        if case .refreshing(_, .leasing) = phase { return isCalling }
        return isCalling || isRefreshing
    }

    var canStart: Bool { if case .resting = phase { !isCalling } else { false } }

    /// The access token, for a request.
    func token(replacedAt uptime: Duration? = nil) -> SessionToken {
        var token = baseToken
        token.issuance = .init(failures: failures, replacedAt: uptime)
        return token
    }

    /// How close the access token is to its end.
    var urgency: Expiry.Urgency { validity.expiry.urgency(at: uptime) }

    /// The time until the next attempt may start, where the last one has failed.
    var pauseLeft: Duration? { failure.flatMap { $0.until > uptime ? $0.until - uptime : nil } }

    func fill(_ status: inout SessionStatus, _ settings: MachineSettings) {
        status.generation = bundle.generation
        status.isRefreshable = settings.canRefresh(bundle)
        status.isRefreshing = !canStart && !isActivating
        status.expiresAt = bundle.expiresAt
        status.lastRefresh = lastRefresh
        status.lastFailure = failure?.error
        status.leaseHolder = leaseHolder
        status.userAction = userAction?.challenge
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
        if case .nothing(let ends, _) = persistence { persistence = .nothing(ends: ends, isUncertain: isUncertain) }
    }
}
