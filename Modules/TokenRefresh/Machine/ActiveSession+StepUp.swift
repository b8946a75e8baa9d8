import AuthInterface
import Foundation

/// A sign-in of the user who is signed in, as a server has demanded it (G32).
///
/// It changes the tokens and the generation, and not the session: what started in the session goes on in it. A refresh
/// under way started from an older generation, so its response is dropped as any late one is (G9). Nothing is revoked:
/// a server may count the tokens before and after as one session.
extension ActiveSession {
    /// The tokens of a step-up that are not stored yet replace what another process has refreshed from older ones
    /// (G32).
    enum Precedence: Hashable, Sendable {
        case none
        case overAll
        /// A write has failed that may have stored them all the same. Then those of a later generation may have been
        /// refreshed from them, and their refresh token is spent.
        case overSameGeneration
    }

    /// Whether tokens are those of the session's user.
    func goesOn(with tokens: TokenRefreshResult) -> Bool {
        guard let subject = bundle.subject, tokens.accessToken.fitsHeaderField else { return false }
        return subject == tokens.subject
    }

    /// The tokens are used once they are stored (G11), as those of a sign-in.
    mutating func stepUp(_ tokens: TokenRefreshResult) {
        let lifetime = context.lifetime(of: tokens, for: bundle.session, sentAt: now)
        context.reportMissingScope(of: tokens, after: bundle, bundle.session)
        let former = newestBundle
        let new = former.renewed(by: tokens, lifetime: lifetime.duration, moment.serverClock, now)
        key = nil
        leaveCall()
        leaveAttempt()
        persistence = persistence == .current ? .older : persistence
        forgetPast(TokenValidity(received: new, lifetime, moment))
        bundle = new
        leaveKey(former.binding)
        precedence = .overAll
        activate()
    }

    /// The call of the refresh under way is not needed any more: once the new tokens are stored, no process spends its
    /// refresh token again. It is no part of the session from here on, and is waited for as that of one that has ended.
    private mutating func leaveCall() {
        guard let call else { return }
        endCall()
        guard call.progress != .abandoned else { return }
        emit(.cancelCall(call.id))
        context.limitCall(.abandonment(call.id), at: uptime + policy.abandonAfter)
        context.lease.endedCalls[call.id] = Lease.EndedCall(session: bundle.session, generation: call.generation)
    }

    /// The attempt under way is over. Its callers wait for the new tokens; those that wanted a refresh have it.
    private mutating func leaveAttempt() {
        stopDeadlines()
        for waiter in context.room.take(.attempt, .pause) {
            if case .refresh = waiter.request { give(waiter) } else { context.room.add(waiter, to: .pause) }
        }
    }

    /// What is known of the tokens before says nothing of the new ones. A pause that the server has asked for stays.
    private mutating func forgetPast(_ validity: TokenValidity) {
        (refusals, userAction, leaseHolder, sighting) = (nil, nil, nil, nil)
        if failure?.error.code == .userActionRequired { failure = nil }
        self.validity = validity
        loops = LoopBreaker()
    }

    /// A caller waits for its whole deadline at most, also where it has waited before (G25).
    private mutating func activate() {
        phase = .activating(version: context.write(.bundle(bundle, over: predecessor(nil))))
        timeWaiters(since: context.room.earliest(at: .pause))
    }

    /// The tokens in use are stored.
    mutating func stepUpStored() {
        precedence = .none
        for former in formerBindings { emit(.releaseKey(former)) }
        formerBindings = []
    }

    /// The tokens in use may be bound to another key than those before them.
    mutating func leaveKey(_ former: TokenBinding?) {
        if let former, !formerBindings.contains(where: { $0.thumbprint == former.thumbprint }) {
            formerBindings.append(former)
        }
        formerBindings.removeAll { $0.thumbprint == bundle.binding?.thumbprint }
    }

    /// Whether the tokens in use are those of a step-up, and replace what another process has stored.
    func prevails(over stored: TokenBundle) -> Bool {
        switch precedence {
        case .none: false
        case .overAll: true
        case .overSameGeneration: stored.generation <= bundle.generation
        }
    }

    /// Another process has refreshed the tokens before those of a step-up which are not stored yet: those of the
    /// step-up replace what it has stored.
    mutating func prevail(over stored: TokenBundle) {
        precedence = .overAll
        bundle = bundle.moved(to: stored.generation + 1)
        persistence = .older
        rewrite()
    }

    /// Stores the tokens in use once more. Those of a step-up that wait for it are used then.
    private mutating func rewrite() {
        if isActivating { activate() } else { _ = context.write(.bundle(bundle, over: .older)) }
    }
}
