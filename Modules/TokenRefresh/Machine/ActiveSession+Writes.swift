import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The end of a write, and of an attempt.
extension ActiveSession {
    /// New tokens that are being stored.
    struct Renewal: Hashable, Sendable {
        let bundle: TokenBundle
        let validity: TokenValidity
        /// Why the access token cannot be used, as the handler says.
        var problem: String?
    }

    mutating func wrote(_ version: Int, _ content: StoreContent?, _ outcome: WriteOutcome) {
        if case .refreshing(_, .ending(let reason, version)) = phase { return endWritten(reason, outcome) }
        if let rejected = content?.rejection, rejected.bundle.session == bundle.session, case .written = outcome,
            !newestBundle.supersedes(rejected.bundle)
        {
            // The store has taken the end after its limit, and the session went on meanwhile. Newer tokens, which came
            // since, are still to be written.
            return conclude(.ends(rejected.reason, revoking: nil, inStore: true))
        }
        guard let content, content.bundle?.session == bundle.session else { return }
        let isCurrent = content.bundle?.hasSameTokens(as: bundle) ?? false
        switch outcome {
        case .written:
            markStored(isCurrent: isCurrent)
            if isCurrent { stepUpStored() }
            if let stored = content.bundle { recordSighting(stored) }
        case .failed:
            markUncertain(true)
            if isCurrent, precedence == .overAll { precedence = .overSameGeneration }
        case .superseded: break
        }
        if let call, call.mark == .writing(version: version) { return marked(call, outcome) }
        switch (phase, outcome) {
        case (.activating(version), .written), (.activating(version), .failed): break
        case (.refreshing(let id, .recording(let recording)), .written) where recording.version == version:
            recorded(recording, id)
        case (.refreshing(let id, .recording(let recording)), .superseded(.active(let found)))
        where recording.version == version && found.session == bundle.session:
            // Whether the owner of another intent may be calling, only a read under the lease shows.
            context.forgetWrites()
            read(id)
        case (.refreshing(_, .recording(let recording)), .failed(let error)) where recording.version == version:
            forgetIntent()
            failAttempt(TokenRefreshError(.unavailable, reason: "the store cannot be written", cause: error))
        case (.refreshing(_, .storing(let renewal, version)), .superseded(let found)):
            return superseded(by: found, storing: renewal)
        case (.refreshing(_, .storing(let renewal, version)), .written):
            return commit(renewal, isStored: true)
        case (.refreshing(_, .storing(let renewal, version)), .failed):
            return commit(renewal, isStored: false)
        case (_, .superseded(let found)):
            return superseded(by: found, storing: nil)
        default: break
        }
    }

    /// The store is slow: it must not delay the application (G11). The write may still succeed.
    mutating func writeTookTooLong(_ version: Int, _ error: TokenStoreError) {
        switch phase {
        case .refreshing(_, .storing(let renewal, version)):
            return commit(renewal, isStored: false)
        case .refreshing(_, .ending(let reason, version)):
            return endFailed(reason, error)
        case .refreshing(_, .recording(let recording)) where recording.version == version:
            forgetIntent()
            failAttempt(TokenRefreshError(.unavailable, reason: "the store cannot be written", cause: error))
        default: break
        }
    }

    /// A sign-in's tokens are in use from here on.
    mutating func activate(_ version: Int) -> Bool {
        guard case .activating(version) = phase else { return false }
        phase = .resting
        return true
    }

    /// The store holds content of another process that a refresh must not replace (rule 3).
    mutating func superseded(by found: StoredSession, storing new: Renewal?) {
        switch found {
        case .tombstone(let tombstone):
            return conclude(.ends(tombstone.reason, revoking: newestBundle, inStore: true))
        case .active(let stored) where stored.session != bundle.session:
            return conclude(.isReplaced(by: stored))
        case .active(let stored) where prevails(over: stored) && stored.displaces(bundle):
            return prevail(over: stored)
        case .active(let stored) where stored.displaces(bundle):
            context.forgetWrites()
            return finishAdopting(after: adoptTokens(stored))
        case .active, .empty:
            let isSame = found.bundle?.hasSameTokens(as: new?.bundle ?? bundle) ?? false
            guard let new else {
                if found.bundle != nil { markStored(isCurrent: isSame) }
                return
            }
            return commit(new, isStored: isSame)
        }
    }

    /// The new tokens are in use from here on.
    mutating func commit(_ new: Renewal, isStored: Bool) {
        let isFirstUnusable = bundle.accessToken.fitsHeaderField
        if isStored { persistence = .current } else if self.isStored { persistence = .older }
        bundle = new.bundle
        validity = new.validity
        sighting = nil
        if isStored { recordSighting(bundle) }
        lastRefresh = now.date
        (refusals, userAction) = (nil, nil)
        emit(.report(.refreshed(session: bundle.session, generation: bundle.generation)))
        guard bundle.accessToken.fitsHeaderField else {
            // Each refresh spends a refresh token. A second one in a row shows that the next will bring no token
            // either.
            let pause = isFirstUnusable ? .zero : max(policy.ambiguityCooldown, AmbiguousRefusals.shortestCooldown)
            return failUnusable(new.problem, atLeast: pause)
        }
        return finishAttempt(isRenewed: true)
    }

    /// The waiters continue with a token that is new, unless it has expired: its response may have been late or
    /// a repetition, a store may take longer to write a token than the token lives, and a server may issue one that no
    /// request can carry. Then a pause follows as after any failure, and not the next refresh at once. The waiters of a
    /// token that was only too old wait for its end if it is short.
    ///
    /// `isRenewed`: where another process has stored the same access token with another refresh token, the waiters
    /// cause the next attempt.
    mutating func finishAttempt(isRenewed: Bool) {
        if isRefreshing, isRenewed, urgency == .expired { return failUnusable() }
        leaseHolder = nil
        failure = nil
        rest()
        for waiter in context.room.take(.attempt) {
            if isRenewed { give(waiter) } else { context.room.add(waiter, to: .pause) }
        }
        for waiter in context.room.take(.pause) {
            // The refresh was made, by this or by another process.
            if case .refresh = waiter.request, isRenewed {
                give(waiter)
            } else {
                context.room.add(waiter, to: .pause)
            }
        }
        return serveQueue()
    }

    private mutating func failUnusable(_ problem: String? = nil, atLeast pause: Duration = .zero) {
        let waiters = bundle.accessToken.fitsHeaderField ? context.room.take(.attempt) : []
        let reason = ["the new access token cannot be used", problem].compactMap(\.self).joined(separator: ": ")
        failAttempt(TokenRefreshError(.unavailable, reason: reason), atLeast: pause)
        for waiter in waiters { waitForRefresh(waiter) }
    }

    /// All waiters share the failure (G6), except those that can use a token which is still valid (G3).
    /// At least a pause of `least` follows; where another process has failed, only what is `left` of its pause.
    mutating func failAttempt(
        _ error: TokenRefreshError,
        atLeast least: Duration = .zero,
        exactly left: Duration? = nil
    ) {
        let pause = left ?? recordFailure(error, atLeast: least)
        emit(.report(.refreshFailed(session: bundle.session, error: error, retryAfter: pause)))
        rest()
        for waiter in context.room.take(.attempt) { endWait(of: waiter, error, retryAfter: pause) }
    }

    /// Returns the pause after the failure.
    private mutating func recordFailure(_ error: TokenRefreshError, atLeast least: Duration) -> Duration {
        let inARow = (failure?.inARow ?? 0) + 1
        var asked = max(min(error.retryAfter ?? .zero, policy.maximumRetryAfter), least)
        if error.code == .ambiguous {
            asked = max(asked, policy.ambiguityCooldown, AmbiguousRefusals.shortestCooldown)
            refusals = AmbiguousRefusals(error, after: refusals, at: uptime)
        } else if error.isOfWholeResponse || refusals?.outlivesLostResponses == false {
            refusals = nil
        }
        if error.hasSpent { asked = max(asked, policy.ambiguityCooldown) }
        if error.code == .userActionRequired {
            let action = UserAction(error, after: userAction)
            demand(action)
            asked = max(asked, action.pause(policy))
        }
        let backoff =
            error.cause is TokenStoreError
            ? context.storePause(afterFailures: inARow) : context.pause(afterFailures: inARow)
        // The response of an earlier call may arrive during a pause, and does not shorten it.
        let pause = max(backoff, asked, pauseLeft ?? .zero)
        note(Failure(error: error, at: uptime, until: uptime + pause, inARow: inARow))
        return pause
    }

    /// G32. Session and tokens stay.
    mutating func demand(_ action: UserAction) {
        if userAction?.challenge != action.challenge {
            emit(.report(.userActionRequired(session: bundle.session, action.challenge)))
        }
        userAction = action
    }

    mutating func note(_ failure: Failure) {
        self.failure = failure
        failures += 1
    }

    mutating func rest() {
        guard isRefreshing else { return }
        stopDeadlines()
        phase = .resting
    }
}
