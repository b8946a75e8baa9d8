import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The limits of an attempt and of its call (G8).
extension ActiveSession {
    /// G8: the waiters fail; the call continues.
    mutating func deadlinePassed(_ id: AttemptID) {
        guard case .refreshing(id, let stage) = phase else { return }
        let limit = policy.deadline.inWords
        switch stage {
        case .calling:
            failAttempt(TokenRefreshError(.unavailable, reason: "no response within \(limit)"))
        case .leasing:
            failAttempt(TokenRefreshError(.unavailable, reason: waitReason))
        case .reading, .recording, .verifying:
            if case .recording = stage { forgetIntent() }
            let reason = "no response from the store within \(limit)"
            failAttempt(
                TokenRefreshError(.unavailable, reason: reason, cause: TokenStoreError(.unavailable, reason: reason))
            )
        case .ending(let reason, _):
            return endFailed(reason, .noResponse(within: policy.deadline))
        case .storing(let renewal, _):
            return commit(renewal, isStored: false)
        }
    }

    /// Why an attempt ends that waited for another process, which may be stopped (G24).
    var waitReason: String {
        let limit = policy.deadline.inWords
        guard let leaseHolder else { return "waited \(limit) for the refresh of another process" }
        return "waited \(limit) for the lease of the store, held by \(leaseHolder); if that process is stopped, "
            + "continue it or end it"
    }

    /// G8: the call has passed its second limit and is cancelled. It has `abandonAfter` to end. Returns whether the
    /// call is the session's.
    mutating func callLimitPassed(_ id: AttemptID) -> Bool {
        guard call?.id == id else { return false }
        guard call?.progress == .underWay else { return true }
        call?.progress = .cancelled
        emit(.cancelCall(id))
        context.limitCall(.abandonment(id), at: uptime + policy.abandonAfter)
        return true
    }

    /// G8: the call did not end when it was cancelled. Its intent is marked, so that every process knows that it may
    /// still be under way, and then it counts as a lost response.
    mutating func abandonmentDue(_ id: AttemptID) {
        guard let call, call.id == id, call.progress == .cancelled else { return }
        emit(.report(.callAbandoned(session: bundle.session, generation: bundle.generation)))
        self.call?.progress = .abandoned
        mark()
    }

    /// The system is about to suspend the process: the lease must be released, and the intent must say that the call
    /// may be under way (rule 4). An attempt without a call ends: without the lease another process may make the call.
    mutating func suspensionNear() {
        mark()
        guard context.lease.isHeld else { return }
        endWithoutLease("the process is about to be suspended")
    }

    /// Rule 4: another process may have the lease, and be calling.
    mutating func leaseLost() {
        endWithoutLease("the lease of the shared store was lost")
    }

    /// Ends an attempt that must not make a call, nor end the session, without the lease.
    private mutating func endWithoutLease(_ reason: String) {
        guard case .refreshing(_, let stage) = phase else { return }
        switch stage {
        case .leasing, .calling, .ending, .storing: return
        case .recording: forgetIntent()
        case .reading, .verifying: break
        }
        failAttempt(TokenRefreshError(.unavailable, reason: reason))
    }

    /// Marks the intent of the call. It needs no mark while new tokens are being stored.
    mutating func mark() {
        guard let call else { return }
        guard call.mark != .stored, call.generation == bundle.generation, !isStoring else {
            if call.progress == .abandoned { abandonCall() }
            return
        }
        let recorded = bundle.with(refreshIntent: call.intent)
        let over = predecessor(persistence == .current ? recorded : nil)
        let version = context.write(.bundle(bundle.with(refreshIntent: call.intent.abandoned), over: over))
        self.call?.mark = .writing(version: version)
    }

    mutating func abandonCall() {
        endCall()
        guard case .refreshing(_, .calling) = phase else { return }
        failAttempt(TokenRefreshError(.unavailable, reason: "the call did not end"))
    }

    var isStoring: Bool { if case .refreshing(_, .storing) = phase { true } else { false } }

    mutating func marked(_ call: Call, _ outcome: WriteOutcome) {
        // A mark that could not be written is written again: the lease stays until then.
        if case .failed = outcome { return }
        self.call?.mark = .stored
        if call.progress == .abandoned { abandonCall() }
        guard case .superseded(let found) = outcome else { return }
        return superseded(by: found, storing: nil)
    }
}
