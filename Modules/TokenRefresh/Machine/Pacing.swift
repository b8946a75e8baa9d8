import AuthInterface
import ConcurrencyPrimitives

/// The failures of a session, and when its next attempt may start (G6).
///
/// After a failure no attempt starts for a pause: the longest one of the backoff, the server, an ambiguous refusal (G4)
/// and a demand on the user (G32). A stored failure of another process, or of an earlier run, counts as an own one
/// (rule 7). A refresh ends a row of failures; new tokens end what the refusals of those before them have shown.
struct Pacing: Hashable, Sendable {
    struct Failure: Hashable, Sendable {
        let error: TokenRefreshError
        let at: Duration
        let until: Duration
        /// How many attempts have failed in a row.
        let inARow: Int
    }

    private(set) var failure: Failure?
    /// How many attempts have failed: a token says how many it has seen.
    private(set) var failures = 0
    /// The ambiguous refusals in a row.
    private var refusals: AmbiguousRefusals?
    /// What the server demands of the user before it issues tokens again.
    private(set) var userAction: UserAction?
    /// The newest stored failure that was taken into account.
    private var seenFailure: RefreshIntent.Failure?

    /// The time until the next attempt may start.
    func pauseLeft(at uptime: Duration) -> Duration? {
        failure.flatMap { $0.until > uptime ? $0.until - uptime : nil }
    }

    /// G6. A request that was sent before the last attempt failed shares that failure, however late it is refused: a
    /// server that is slow to refuse gets one attempt for all of them.
    func failure(sharedBy token: SessionToken, _ clock: MachineClock) -> (error: TokenRefreshError, pause: Duration)? {
        guard let failure, token.issuance.failures < failures,
            clock.uptime < max(failure.until, failure.at + clock.policy.failureSharing)
        else { return nil }
        // Never zero: a caller that asks again with the same token, and not for a token, would spin.
        return (failure.error, max(failure.until - clock.uptime, clock.policy.backoff.floor))
    }

    /// G4.
    func isRejection(_ error: TokenRefreshError, _ clock: MachineClock) -> Bool {
        switch error.code {
        case .rejected: true
        case .ambiguous:
            switch clock.policy.ambiguity {
            case .never: false
            case .always: true
            case .repeated:
                refusals?.isConfirmed(by: error, at: clock.uptime, clock.policy.ambiguityPeriod) ?? false
            }
        default: false
        }
    }

    /// An attempt has failed. Returns the pause after it, which is at least `least`.
    mutating func failed(
        _ error: TokenRefreshError, of session: SessionID, atLeast least: Duration, _ context: inout Context
    ) -> Duration {
        let (policy, uptime) = (context.policy, context.uptime)
        let inARow = (failure?.inARow ?? 0) + 1
        var asked = max(min(error.retryAfter ?? .zero, policy.maximumRetryAfter), least)
        if error.code == .ambiguous {
            asked = max(asked, policy.ambiguousPause)
            refusals = AmbiguousRefusals(error, after: refusals, at: uptime)
        } else if error.isOfWholeResponse || refusals?.outlivesLostResponses == false {
            refusals = nil
        }
        if error.hasSpent { asked = max(asked, policy.ambiguityCooldown) }
        if error.code == .userActionRequired {
            let action = UserAction(error, after: userAction)
            demand(action, of: session, &context)
            asked = max(asked, action.pause(policy))
        }
        let backoff = context.pause(afterFailures: inARow, ofStore: error.cause is TokenStoreError)
        // The response of an earlier call may arrive during a pause, and does not shorten it.
        let pause = max(backoff, asked, pauseLeft(at: uptime) ?? .zero)
        note(Failure(error: error, at: uptime, until: uptime + pause, inARow: inARow))
        return pause
    }

    /// A stored failure. A clock that can be set has dated it: its pause counts as far as one may be long (G19).
    mutating func observe(_ shared: RefreshIntent.Failure, of session: SessionID, _ context: inout Context) {
        guard seenFailure != shared else { return }
        seenFailure = shared
        let (policy, uptime) = (context.policy, context.uptime)
        let passed = context.clock.timePassed(since: shared.date) ?? .zero
        let longest = shared.stepUp == nil ? .zero : policy.maximumUserActionPause
        let left = min(max(shared.pause, .zero), max(policy.maximumRetryAfter, longest)) - passed
        refusals = AmbiguousRefusals(shared, context.clock)
        if let action = UserAction(shared) { demand(action, of: session, &context) }
        guard left > .zero, left > pauseLeft(at: uptime) ?? .zero else { return }
        let error = TokenRefreshError(
            shared.isAmbiguous ? .ambiguous : shared.stepUp == nil ? .unavailable : .userActionRequired,
            reason: "the last refresh, by another process or an earlier run, has failed",
            status: shared.status, serverCode: shared.serverCode, stepUp: shared.stepUp)
        note(Failure(error: error, at: uptime, until: uptime + left, inARow: failure?.inARow ?? 1))
    }

    /// G32. Session and tokens stay.
    private mutating func demand(_ action: UserAction, of session: SessionID, _ context: inout Context) {
        if userAction?.challenge != action.challenge {
            context.emit(.report(.userActionRequired(session: session, action.challenge)))
        }
        userAction = action
    }

    private mutating func note(_ failure: Failure) {
        self.failure = failure
        failures += 1
    }

    /// An attempt has ended with tokens that can be used.
    mutating func succeeded() { failure = nil }

    /// New tokens are in use.
    mutating func renewed() {
        refusals = nil
        userAction = nil
    }

    /// The tokens of a step-up are in use. A pause that the server has asked for stays.
    mutating func steppedUp() {
        renewed()
        if failure?.error.code == .userActionRequired { failure = nil }
    }

    /// What is stored of the last failure, with the intent of its call.
    func sharedFailure(_ error: TokenRefreshError, at now: Instant) -> RefreshIntent.Failure? {
        guard let failure else { return nil }
        var shared = RefreshIntent.Failure(
            date: now.date, pause: failure.until - now.uptime, status: error.status, serverCode: error.serverCode)
        if error.code == .ambiguous { refusals?.fill(&shared, at: now) }
        userAction?.fill(&shared)
        return shared
    }
}
