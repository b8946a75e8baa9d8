import AuthInterface

/// A sign-in of the user who is signed in, as a server has demanded it (G32).
///
/// It changes the tokens and the generation, and not the session: what started in the session goes on in it. A refresh
/// under way started from an older generation, so its response is dropped as any late one is (G9). Nothing is revoked:
/// a server may count the tokens before and after as one session.
extension ActiveSession {
    /// The tokens are used once they are stored (G11). What is known of the tokens before says nothing of them.
    mutating func stepUp(_ tokens: TokenRefreshResult, _ context: inout Context) {
        let former = newestBundle
        let new = context.receive(tokens, of: former.session, former.ordinal, after: former, asked: bundle.scope)
        calls.startOver(after: nil, context.clock)
        // No process spends the refresh token of a call under way again once the new tokens are stored: the call is
        // waited for as that of a session that has ended.
        if let id = calls.call?.id, let call = endCall(id, &context), call.progress != .abandoned {
            context.cancelCall(id)
            context.lease.endedCalls[id] = Lease.EndedCall(session: bundle.session, generation: call.generation)
        }
        // The attempt under way is over. Its callers wait for the new tokens; those that wanted a refresh have it.
        stopDeadlines(&context)
        context.callers.move(from: .attempt, to: .pause)
        giveRefreshed(&context)
        persistence.steppedUp()
        pacing.steppedUp()
        leaseHolder = nil
        window.stepUp(new)
        persistence.leaveKey(former.binding, for: bundle)
        activate(&context)
    }

    /// A caller waits for its whole deadline at most, also where it has waited before (G25).
    private mutating func activate(_ context: inout Context) {
        phase = .activating(version: context.write(.bundle(bundle, over: persistence.predecessor())))
        timeWaiters(since: context.callers.earliest(at: .pause), &context)
    }

    /// The tokens of a step-up replace what another process has refreshed from those before them.
    mutating func prevail(over stored: TokenBundle, _ context: inout Context) {
        window.move(to: stored.generation + 1)
        persistence.outranked()
        if isActivating { activate(&context) } else { _ = context.write(.bundle(bundle, over: .older)) }
    }
}
