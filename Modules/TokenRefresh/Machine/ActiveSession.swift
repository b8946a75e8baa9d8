import AuthInterface

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
///                 (shared store: leasing → reading →) intent → calling → tokens
///                                            │             │        └ rejected → reading → end
///                                            │             └ not writable: no call (G27)
///                                            └ newer: adopted
/// ```
/// It owns four values, each with rules of its own, and brings them together: what a request, a response, a write or a
/// read changes. A call can outlive the attempt: see ``CallLedger``. What a rule does beside the session are effects:
/// actions, writes, and at most one outcome. They are collected in the context, its last parameter.
struct ActiveSession: Hashable, Sendable {
    enum Phase: Hashable, Sendable {
        /// A sign-in waits for its tokens to be stored. No request uses them before (G11).
        case activating(version: Int)
        case resting
        case refreshing(AttemptID, Stage)
    }

    indirect enum Stage: Hashable, Sendable {
        case leasing
        /// Another process may have refreshed already; `after` a rejection it may have newer tokens than the rejected
        /// ones. `isStale`: the read may not show a write that has ended since.
        case reading(after: TokenRefreshError?, isStale: Bool)
        case calling(isReplay: Bool)
        case writing(AwaitedWrite, version: Int)
    }

    /// The content that an attempt waits for until it is stored.
    enum AwaitedWrite: Hashable, Sendable {
        /// The intent of a call (G27).
        case intent(Call.Recording)
        /// New tokens (G11).
        case tokens(NewTokens)
        /// The end of the session, as the store holds nothing newer (G13).
        case end(SignOutReason)
    }

    var window: AccessTokenWindow
    var persistence: Persistence
    var calls = CallLedger()
    var pacing = Pacing()

    var phase: Phase
    /// When the next waiter of the attempt fails that has waited since before it started.
    var waitersEnd: Duration?
    /// The process that keeps this one from refreshing.
    var leaseHolder: LeaseHolder?

    /// A session that was signed in here. `ends`: up to which ordinal it ends others. `version`: that of its write.
    init(signedIn tokens: NewTokens, ends: SessionOrdinal?, version: Int) {
        window = AccessTokenWindow(tokens.bundle, tokens.validity)
        persistence = Persistence(ending: ends)
        phase = .activating(version: version)
    }

    /// A session that the store holds. `earlier`: when it held the tokens before these.
    init(stored bundle: TokenBundle, after earlier: StoreSighting?, _ context: inout Context) {
        window = AccessTokenWindow(stored: bundle, after: earlier, context.clock)
        persistence = Persistence()
        phase = .resting
        calls.startOver(after: bundle.refreshIntent, context.clock)
        if let failure = bundle.refreshIntent?.failure { pacing.observe(failure, of: bundle.session, &context) }
    }

    var bundle: TokenBundle { window.bundle }
    var isActivating: Bool { if case .activating = phase { true } else { false } }
    var isIdle: Bool { phase == .resting }
    var isRefreshing: Bool { if case .refreshing = phase { true } else { false } }
    var isStoring: Bool { if case .refreshing(_, .writing(.tokens, _)) = phase { true } else { false } }
    var isCalling: Bool { calls.call != nil }
    var canStart: Bool { isIdle && !isCalling }

    /// Rule 2: a call or a write owns the lease until it has ended.
    var needsLease: Bool {
        if case .refreshing(_, .leasing) = phase { return isCalling }
        return isCalling || isRefreshing
    }

    /// Whether the newest tokens may be in this process only.
    var isUnsaved: Bool { isStoring || !persistence.isCurrent }

    /// Those that are being stored count: revoking older ones might leave the newest valid.
    var newestBundle: TokenBundle {
        if case .refreshing(_, .writing(.tokens(let new), _)) = phase { new.bundle } else { bundle }
    }

    func token(replacedAt uptime: Duration? = nil) -> SessionToken {
        window.token(.init(failures: pacing.failures, replacedAt: uptime))
    }

    func readyToken(_ clock: MachineClock) -> MachineState.ReadyToken? {
        guard !isActivating else { return nil }
        func ready(until end: Duration?) -> MachineState.ReadyToken { .init(token: token(), until: end) }
        let expiry = window.expiry
        guard clock.settings.canRefresh(bundle) else { return ready(until: expiry.end) }
        guard let aheadFrom = expiry.aheadFrom, let leewayFrom = expiry.leewayFrom else { return ready(until: nil) }
        // While no refresh can start, a valid token can be used until its leeway.
        guard canStart else { return ready(until: leewayFrom) }
        let start = max(aheadFrom, pacing.failure?.until ?? aheadFrom, clock.quietUntil ?? aheadFrom)
        return ready(until: min(leewayFrom, start))
    }

    func fill(_ status: inout SessionStatus, _ settings: MachineSettings) {
        status.generation = bundle.generation
        status.isRefreshable = settings.canRefresh(bundle)
        status.isRefreshing = !canStart && !isActivating
        status.expiresAt = bundle.expiresAt
        status.lastRefresh = window.lastRefresh
        status.lastFailure = pacing.failure?.error
        status.leaseHolder = leaseHolder
        status.userAction = pacing.userAction?.challenge
    }

    /// What is found in the store is to a session.
    enum Relation {
        /// Nothing, or an older bundle.
        case nothing
        /// The same tokens. Their intent may be that of another process.
        case sameTokens(TokenBundle)
        /// Newer tokens of another process.
        case newer(TokenBundle)
        /// Newer ones, which those of a step-up replace (G32).
        case outranked(TokenBundle)
        case otherSession(TokenBundle)
        case ended(SessionTombstone)
    }

    func relation(of found: StoredSession?) -> Relation {
        switch found {
        case .tombstone(let tombstone): .ended(tombstone)
        case .active(let stored) where stored.session != bundle.session: .otherSession(stored)
        case .active(let stored) where stored.displaces(bundle):
            persistence.replaces(stored, from: bundle) ? .outranked(stored) : .newer(stored)
        case .active(let stored) where stored.hasSameTokens(as: bundle): .sameTokens(stored)
        case .active, .empty, nil: .nothing
        }
    }
}
