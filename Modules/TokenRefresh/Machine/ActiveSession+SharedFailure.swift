import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// Rule 7: a failure with a whole response is stored with the intent of its call. Every process, and every later run of
/// this one, observes its pause, and then calls with the same key.
extension ActiveSession {
    /// Stores the failure that the session has just noted. The lease stays until it is stored.
    mutating func markFailure(of call: Call, _ error: TokenRefreshError) {
        guard call.generation == bundle.generation, let failure, call.mark == .none,
            !settings.isShared || context.lease.isHeld
        else { return }
        var shared = RefreshIntent.Failure(
            date: now.date,
            pause: failure.until - uptime,
            status: error.status,
            serverCode: error.serverCode
        )
        if error.code == .ambiguous { refusals?.fill(&shared, at: now) }
        userAction?.fill(&shared)
        var intent = call.intent
        intent.failure = shared
        // The failure of a replay says nothing of the call before it, whose response was lost.
        intent.firstDate = key?.firstCall?.date
        let recorded = bundle.with(refreshIntent: call.intent)
        let over = predecessor(persistence == .current ? recorded : nil)
        _ = context.write(.bundle(bundle.with(refreshIntent: intent), over: over))
    }

    mutating func observeFailure(of intent: RefreshIntent) {
        if let failure = intent.failure { observe(failure) }
    }

    /// Observes the pause of a stored failure, as far as it may be long from now on (G19): its date is that of a clock
    /// which can be set.
    mutating func observe(_ shared: RefreshIntent.Failure) {
        guard seenFailure != shared else { return }
        seenFailure = shared
        let passed = moment.timePassed(since: shared.date) ?? .zero
        let longest = shared.stepUp == nil ? .zero : policy.maximumUserActionPause
        let left = min(max(shared.pause, .zero), max(policy.maximumRetryAfter, longest)) - passed
        refusals = AmbiguousRefusals(shared, moment)
        if let action = UserAction(shared) { demand(action) }
        guard left > .zero, left > pauseLeft ?? .zero else { return }
        let error = TokenRefreshError(
            shared.isAmbiguous ? .ambiguous : shared.stepUp == nil ? .unavailable : .userActionRequired,
            reason: "the last refresh, by another process or an earlier run, has failed",
            status: shared.status,
            serverCode: shared.serverCode,
            stepUp: shared.stepUp
        )
        note(Failure(error: error, at: uptime, until: uptime + left, inARow: failure?.inARow ?? 1))
    }
}
