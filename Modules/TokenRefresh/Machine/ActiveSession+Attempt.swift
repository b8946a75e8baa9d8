import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The attempt, from the lease to the call (rules 1 and 4).
extension ActiveSession {
    mutating func start() {
        let id = context.nextAttempt()
        emit(.report(.refreshStarted(session: bundle.session, generation: bundle.generation)))
        emit(.startTimer(.deadline(id), at: uptime + policy.deadline))
        // This attempt serves the waiters of the pause.
        context.room.move(from: .pause, to: .attempt)
        timeWaiters(since: context.room.earliest(at: .attempt))
        if !settings.isShared {
            // A read shows whether a write that has failed stored the tokens all the same.
            if case .nothing(_, isUncertain: true) = persistence {
                read(id)
            } else {
                record(over: nil, id)
            }
        } else if context.lease.isHeld {
            // A lease that is still held, because a save has failed, serves the next attempt too.
            read(id)
        } else {
            phase = .refreshing(id, .leasing)
            context.requestLease(for: id)
        }
    }

    mutating func read(_ id: AttemptID) {
        readStore(id, .reading(isStale: false))
    }

    mutating func readStore(_ id: AttemptID, _ stage: Stage) {
        phase = .refreshing(id, stage)
        context.readStore(for: id)
    }

    /// A write has ended: a read under way may not show it.
    mutating func invalidateRead() {
        switch phase {
        case .refreshing(let id, .reading): phase = .refreshing(id, .reading(isStale: true))
        case .refreshing(let id, .verifying(let error, _)): phase = .refreshing(id, .verifying(error, isStale: true))
        default: break
        }
    }

    mutating func leased() {
        guard case .refreshing(let id, .leasing) = phase else { return }
        leaseHolder = nil
        read(id)
    }

    mutating func leaseHeld(by holder: LeaseHolder) {
        guard case .refreshing(_, .leasing) = phase else { return }
        leaseHolder = holder
    }

    mutating func leaseFailed(_ request: AttemptID, _ error: TokenStoreError) {
        guard case .refreshing(let id, .leasing) = phase else { return }
        // The request of an earlier attempt has waited for as long as it may.
        guard request == id else { return context.requestLease(for: id) }
        let reason = error.code == .busy ? waitReason : "no lease of the shared store"
        failAttempt(TokenRefreshError(.unavailable, reason: reason, cause: error))
    }

    /// The store was read again: under the lease, or because the server rejected the refresh token (G13).
    mutating func attemptRead(_ read: AttemptID, _ result: Result<StoredSession, TokenStoreError>, ownerMayCall: Bool) {
        guard case .refreshing(let id, let stage) = phase else { return }
        let (rejection, isStale): (TokenRefreshError?, Bool)
        switch stage {
        case .reading(let stale): (rejection, isStale) = (nil, stale)
        case .verifying(let error, let stale): (rejection, isStale) = (error, stale)
        case .leasing, .recording, .calling, .ending, .storing: return
        }
        guard read == id, !isStale else {
            return readStore(id, rejection.map { .verifying($0, isStale: false) } ?? .reading(isStale: false))
        }
        let found: StoredSession?
        switch result {
        case .success(let content):
            found = content
            applyRead(found)
        // The content is lost, but this process holds valid tokens, and may write them again.
        case .failure(let error) where error.code == .corrupt: found = nil
        case .failure where persistence != .current && rejection == nil:
            // The store is not known to have held this refresh token. If it does, the write of the intent shows it.
            return record(over: nil, id)
        case .failure(let error):
            // Another process may have spent the refresh token, and only the store could show it. Spending it twice
            // could end the session, and waiting cannot. The same after a rejection: it may be about a token that has
            // been replaced.
            return failAttempt(TokenRefreshError(.unavailable, reason: "the store cannot be read", cause: error))
        }
        switch found {
        case .tombstone(let tombstone) where isStored || tombstone.session == bundle.session:
            return conclude(.ends(tombstone.reason, revoking: nil, inStore: true))
        case .active(let stored) where stored.session != bundle.session && isStored:
            return conclude(.isReplaced(by: stored))
        case .active(let stored) where stored.displaces(bundle) && !prevails(over: stored):
            return adopt(stored, id, ownerMayCall: ownerMayCall)
        case .active(let stored) where stored.displaces(bundle):
            prevail(over: stored)
            record(over: nil, id)
        default:
            if let rejection {
                end(rejection, id)
            } else {
                proceed(found?.bundle, id, ownerMayCall: ownerMayCall)
            }
        }
    }

    /// Applies what a read shows of the tokens in use. Where they are not found, a write that has failed did not store
    /// them.
    mutating func applyRead(_ found: StoredSession?) {
        markUncertain(false)
        guard let stored = found?.bundle, stored.session == bundle.session else { return }
        markStored(isCurrent: stored.hasSameTokens(as: bundle))
    }

    /// Another process has refreshed: its tokens are used, and no call is made if the access token is new and valid for
    /// long enough.
    mutating func adopt(_ found: TokenBundle, _ id: AttemptID, ownerMayCall: Bool) {
        let old = adoptTokens(found)
        let isNew = old.accessToken != bundle.accessToken
        switch urgency {
        case .none where isNew, .ahead where isNew: finishAdopting(after: old)
        case .none, .ahead, .due, .expired:
            proceed(found, id, ownerMayCall: ownerMayCall)
        }
    }

    /// The tokens of another process are in use, in place of `old` ones.
    mutating func finishAdopting(after old: TokenBundle) {
        emit(.report(.adopted(session: bundle.session, generation: bundle.generation)))
        return finishAttempt(isRenewed: bundle.accessToken != old.accessToken)
    }

    /// Uses the bundle of another process. Returns the tokens before.
    mutating func adoptTokens(_ found: TokenBundle) -> TokenBundle {
        context.storeMayHaveChanged = true
        let old = bundle
        // An earlier version drops the ordinal when it refreshes: the next bundle has it again.
        bundle = found.with(refreshIntent: nil).with(ordinal: max(found.ordinal, old.ordinal))
        // The tokens of a step-up that was not stored are not in use any more.
        precedence = .none
        if !formerBindings.isEmpty { leaveKey(old.binding) }
        // What this process knows of the access token stays while the token does.
        if bundle.accessToken != old.accessToken {
            validity = TokenValidity(adopted: bundle, after: sighting, moment)
        }
        sighting = nil
        recordSighting(found)
        persistence = .current
        key = CallKey(of: found.refreshIntent, moment)
        (refusals, userAction) = (nil, nil)
        return old
    }

    /// The lease is held and nothing newer is stored: the call may be made, unless another one may be under way.
    mutating func proceed(_ found: TokenBundle?, _ id: AttemptID, ownerMayCall: Bool) {
        guard isRefreshable else {
            rest()
            for waiter in context.room.take(.attempt) { refuse(waiter, .noRefreshToken) }
            return
        }
        let stored = found.flatMap { $0.hasSameTokens(as: bundle) ? $0 : nil }
        guard let intent = stored?.refreshIntent else {
            return record(over: stored, id)
        }
        // The time of a call of this process is known exactly, unless another one has called before it.
        let isForeign = intent.owner != settings.owner
        if key?.value != intent.idempotencyKey || (key?.firstCall == nil && isForeign) {
            key = CallKey(of: intent, knownAs: key, moment)
        }
        if let shared = intent.failure, isForeign {
            observe(shared)
            if let failure, let left = pauseLeft { return failAttempt(failure.error, exactly: left) }
        }
        switch permission(after: intent, ownerMayCall: ownerMayCall) {
        case .now: record(over: stored, id)
        case .tolerated(let repetition): record(over: stored, repeating: repetition, id)
        case .later(let wait):
            leaseHolder = seenIntent.map { LeaseHolder(process: $0.intent.owner, since: $0.intent.date) }
            let caller = leaseHolder?.description ?? "another process"
            let error = TokenRefreshError(.unavailable, reason: "\(caller) may still wait for its response")
            failAttempt(error, atLeast: wait)
        }
    }

    /// Rule 4: the owner of an intent may still be calling. An intent of this process that replaced the intent of such
    /// an owner says nothing about that owner.
    mutating func permission(after intent: RefreshIntent, ownerMayCall: Bool) -> CallPermission {
        // Rule 7: the call has ended, and is neither under way nor lost.
        if intent.failure != nil, !intent.isAbandoned { return .now }
        if intent.owner == settings.owner {
            guard seenIntent?.intent.idempotencyKey == intent.idempotencyKey else { return .now }
        } else {
            guard intent.isAbandoned || ownerMayCall else { return .now }
            if seenIntent?.intent != intent { seenIntent = SeenIntent(intent: intent, at: uptime) }
        }
        guard let (rival, seenAt) = seenIntent.map({ ($0.intent, $0.at) }) else { return .now }
        let age = moment.age(of: rival)
        let limit = policy.longestCall(of: rival)
        switch settings.tolerance {
        case .sameKey: return .tolerated(Repetition())
        case .within(let window):
            guard let age, age < min(window, limit) else { break }
            return .tolerated(Repetition(date: rival.date, since: uptime - age))
        case .none: break
        }
        // The date was written by another clock, or this one was set since. The time since this process first saw the
        // intent is measured here.
        let known = max(age ?? .zero, uptime - seenAt)
        return known < limit ? .later(in: limit - known) : .now
    }

    // MARK: Without the lease

    /// A check of the store has ended, and the content for it is not stored yet. Newer tokens count at once: a caller
    /// may wait for them (G10).
    mutating func checkedBesideWrite(_ found: StoredSession?) {
        guard case .active(let stored)? = found, stored.displaces(bundle), isIdle, !prevails(over: stored)
        else { return }
        superseded(by: .active(stored), storing: nil)
    }

    /// A check of the store has ended, without the lease, and no write is under way.
    mutating func checked(_ found: StoredSession?) {
        switch found {
        case .tombstone(let tombstone) where isStored:
            return conclude(.ends(tombstone.reason, revoking: nil, inStore: true))
        case .active(let stored) where stored.session != bundle.session && isStored:
            return conclude(.isReplaced(by: stored))
        // A call whose intent is marked has no lease: another process may have refreshed meanwhile. A step-up needs
        // none (G32).
        case .active(let stored) where stored.displaces(bundle) && (isIdle || call?.mark == .stored):
            return finishAdopting(after: adoptTokens(stored))
        // Rule 7: another process has tried to refresh these tokens.
        case .active(let stored) where stored.hasSameTokens(as: bundle) && canStart:
            recordSighting(stored)
            guard let intent = stored.refreshIntent, intent.owner != settings.owner else { return }
            observeFailure(of: intent)
        default: break
        }
    }
}
