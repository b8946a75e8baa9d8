import AuthInterface
import ConcurrencyPrimitives

/// The limits of an attempt and of its call (G8).
extension ActiveSession {
    /// G8: the waiters fail; the call continues.
    mutating func deadlinePassed(_ id: AttemptID, _ context: inout Context) {
        guard case .refreshing(id, let stage) = phase else { return }
        let limit = context.policy.deadline.inWords
        switch stage {
        case .calling:
            failAttempt(because: "no response within \(limit)", &context)
        case .leasing:
            failAttempt(because: waitReason(context.policy), &context)
        case .reading, .writing(.intent, _):
            if case .writing = stage { forgetIntent(&context) }
            let reason = "no response from the store within \(limit)"
            let cause = TokenStoreError(.unavailable, reason: reason)
            failAttempt(because: reason, cause: cause, &context)
        case .writing(let write, _):
            notWritten(write, .noResponse(within: context.policy.deadline), &context)
        }
    }

    /// Why an attempt ends that waited for another process, which may be stopped (G24).
    func waitReason(_ policy: TokenRefreshPolicy) -> String {
        let limit = policy.deadline.inWords
        guard let leaseHolder else { return "waited \(limit) for the refresh of another process" }
        return "waited \(limit) for the lease of the store, held by \(leaseHolder); if that process is stopped, "
            + "continue it or end it"
    }

    /// G8: the call under way has passed its second limit, or is not needed any more.
    mutating func cancelCall(_ context: inout Context) {
        guard let call = calls.call, call.progress == .underWay else { return }
        calls.call?.progress = .cancelled
        context.cancelCall(call.id)
    }

    /// G8: the call did not end when it was cancelled. Once its mark is stored, it counts as a lost response.
    mutating func abandonmentDue(_ id: AttemptID, _ context: inout Context) {
        guard let call = calls.call, call.id == id, call.progress == .cancelled else { return }
        context.emit(.report(.callAbandoned(session: bundle.session, generation: bundle.generation)))
        calls.call?.progress = .abandoned
        mark(&context)
    }

    /// The lease must be released, and the intent must say that the call may be under way (rule 4).
    mutating func suspensionNear(_ context: inout Context) {
        mark(&context)
        guard context.lease.isHeld else { return }
        endWithoutLease("the process is about to be suspended", &context)
    }

    /// Ends an attempt that must not call, nor end the session, without the lease: another process may call (rule 4).
    mutating func endWithoutLease(_ reason: String, _ context: inout Context) {
        guard case .refreshing(_, let stage) = phase else { return }
        switch stage {
        case .reading: break
        case .writing(.intent, _): forgetIntent(&context)
        case .leasing, .calling, .writing: return
        }
        failAttempt(because: reason, &context)
    }
}
