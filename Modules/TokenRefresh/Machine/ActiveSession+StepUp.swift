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

    /// Whether the new access token would be bound to another key than the refresh token that stays (G34). With that
    /// key the server would refuse the refresh token, and the session would end.
    func dividesKeys(with tokens: TokenRefreshResult) -> Bool {
        guard let new = tokens.binding, new.thumbprint != newestBundle.binding?.thumbprint,
            let old = newestBundle.refreshToken, !old.isEmpty
        else { return false }
        return tokens.refreshToken.map { $0.isEmpty || $0 == old } ?? true
    }

    /// The tokens are used once they are stored (G11), as those of a sign-in.
    mutating func stepUp(_ tokens: TokenRefreshResult) {
        let lifetime = context.lifetime(of: tokens, for: bundle.session, sentAt: now)
        context.reportMissingScope(of: tokens, after: bundle, bundle.session)
        let new = newestBundle.renewed(by: tokens, lifetime: lifetime.duration, moment.serverClock, now)
        let isWhole = new.refreshToken != newestBundle.refreshToken
        var intent: RefreshIntent?
        if isWhole {
            key = nil
            seenIntent = nil
            leaveCall()
        } else {
            // The refresh token stays, and so do its key, its intent, and the call that may be spending it.
            intent = call?.intent.abandoned ?? earlierIntent
        }
        heir = isWhole ? nil : call?.id
        let former = newestBundle
        let first = stepUps.flatMap { $0.upperBound == former.generation ? $0.lowerBound : nil }
        stepUps = isWhole ? nil : (first ?? former.generation)...new.generation
        leaveAttempt()
        persistence = persistence == .current ? .older : persistence
        forgetPast(TokenValidity(received: new, lifetime, moment))
        bundle = new
        leaveKey(former.binding)
        // A step-up before this one may have brought the refresh token, and not be stored yet. Where it may be stored
        // all the same, what was refreshed from it has the generation that this one has now.
        if isWhole { precedence = .overAll } else if precedence == .overSameGeneration { precedence = .none }
        activate(new.with(refreshIntent: intent))
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
        (doubt, leaseHolder, sighting) = (nil, nil, nil)
        self.validity = validity
        loops = LoopBreaker()
    }

    /// A caller waits for its whole deadline at most, also where it has waited before (G25).
    private mutating func activate(_ stored: TokenBundle) {
        let over = isStored ? StoreContent.Predecessor.olderWithIntent : predecessor(nil)
        phase = .activating(version: context.write(.bundle(stored, over: over)))
        timeWaiters(since: context.room.earliest(at: .pause))
    }

    /// The refresh has ended that was under way when a step-up left its refresh token in use. The token after it must
    /// not be lost; the access token of the step-up stays. So does a pause that the server asks for (G6).
    ///
    /// - Returns: Whether the response was a new refresh token.
    mutating func inherit(
        _ result: Result<TokenRefreshResult, TokenRefreshError>, _ id: AttemptID, spending spent: String?
    ) -> Bool {
        if heir == id {
            heir = nil
            if case .failure(let error) = result, error.retryAfter != nil { failAttempt(error) }
        }
        // The call may have been given up before the step-up.
        guard spent == bundle.refreshToken, !isStoring else { return false }
        guard case .success(let tokens) = result, let refreshToken = tokens.refreshToken, !refreshToken.isEmpty,
            refreshToken != bundle.refreshToken
        else { return false }
        // A later call with the refresh token before it, if one is under way, is not needed any more.
        if let id = call?.id { _ = callLimitPassed(id) }
        let new = bundle.moved(to: bundle.generation + 1, refreshToken: refreshToken)
        (key, self.spent) = (nil, spent)
        if isActivating {
            bundle = new
            activate(new)
        } else {
            let version = context.write(.bundle(new, over: predecessor(nil)))
            var attempt = id
            if case .refreshing(let later, _) = phase { attempt = later }
            phase = .refreshing(attempt, .storing(Renewal(bundle: new), version: version))
        }
        return true
    }

    /// Another process has stored a step-up without a refresh token. `newest` has replaced the one that it has stored:
    /// it is kept, beside the access token of the step-up.
    mutating func keep(_ newest: String) {
        bundle = bundle.moved(to: bundle.generation + 1, refreshToken: newest)
        (key, persistence) = (nil, .older)
        rewrite()
    }

    /// A caller that wants a refresh waits for the call that a step-up has left under way, as no second one is made.
    ///
    /// - Returns: Whether it waits: for its deadline at most.
    mutating func waitsForHeir(_ waiter: Waiter) -> Bool {
        let end = waiter.since + policy.deadline
        guard let heir, call?.id == heir, uptime < end else { return false }
        if context.room.isEmpty(.pause) {
            emit(.startTimer(.cooldown(bundle.session), at: end))
        } else {
            endWaits(at: end)
        }
        context.room.add(waiter, to: .pause)
        return true
    }

    /// That call has ended, and has brought nothing: its callers need another one.
    mutating func serveAfterCall() {
        guard case .resting = phase, !isCalling, context.outcome == nil else { return }
        serveQueue()
    }

    /// The tokens before a step-up that is not stored yet and has left the refresh token in use: with their intent
    /// another process may have called since.
    func beforeStepUp(_ found: TokenBundle) -> TokenBundle? {
        guard let stepUps, stepUps.upperBound == bundle.generation, found.session == bundle.session else { return nil }
        return stepUps.contains(found.generation) ? found : nil
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
        if isActivating { activate(bundle) } else { _ = context.write(.bundle(bundle, over: .older)) }
    }
}
