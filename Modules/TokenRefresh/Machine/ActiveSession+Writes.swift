import AuthInterface

/// The end of a write, and of an attempt.
extension ActiveSession {
    mutating func wrote(_ version: Int, _ content: StoreContent?, _ outcome: WriteOutcome, _ context: inout Context) {
        let awaited = awaitedWrite(version)
        if let awaited, case .end = awaited.write { return ended(awaited.write, awaited.id, outcome, &context) }
        if let rejected = content?.rejection, rejected.bundle.session == bundle.session, case .written = outcome,
            !newestBundle.supersedes(rejected.bundle)
        {
            // The store has taken the end after its limit. Newer tokens, which came since, are still to be written.
            return context.conclude(.ends(rejected.reason, revoking: nil, inStore: true))
        }
        guard let content, content.bundle?.session == bundle.session else { return }
        note(content, outcome, &context)
        if let call = calls.call, call.mark == .writing(version: version) { return marked(call, outcome, &context) }
        if let awaited {
            ended(awaited.write, awaited.id, outcome, &context)
        } else if case .superseded(let found) = outcome {
            superseded(by: found, storing: nil, &context)
        }
    }

    /// The content that the attempt waits for, if it is that of a version.
    func awaitedWrite(_ version: Int) -> (write: AwaitedWrite, id: AttemptID)? {
        guard case .refreshing(let id, .writing(let write, let awaited)) = phase, awaited == version else { return nil }
        return (write, id)
    }

    /// What a write shows of the tokens in use.
    private mutating func note(_ content: StoreContent, _ outcome: WriteOutcome, _ context: inout Context) {
        let isCurrent = content.bundle?.hasSameTokens(as: bundle) ?? false
        switch outcome {
        case .written:
            persistence.found(isCurrent: isCurrent)
            if isCurrent { for key in persistence.stored() { context.emit(.releaseKey(key)) } }
            if let stored = content.bundle { window.see(stored, at: context.uptime) }
        case .failed: persistence.failed(isCurrent: isCurrent)
        case .superseded: break
        }
    }

    private mutating func ended(
        _ write: AwaitedWrite, _ id: AttemptID, _ outcome: WriteOutcome, _ context: inout Context
    ) {
        switch (write, outcome) {
        case (.intent(let recording), .written): recorded(recording, id, &context)
        case (.tokens(let new), .written): commit(new, isStored: true, &context)
        case (.end(let reason), .written): context.conclude(.ends(reason, revoking: nil, inStore: true))
        case (.intent, .superseded(.active(let found))) where found.session == bundle.session:
            // Whether the owner of another intent may be calling, only a read under the lease shows.
            context.forgetWrites()
            read(id, &context)
        case (.tokens(let new), .superseded(let found)): superseded(by: found, storing: new, &context)
        case (_, .superseded(let found)): superseded(by: found, storing: nil, &context)
        case (_, .failed(let error)): notWritten(write, error, &context)
        }
    }

    /// The attempt waits no longer: the write has failed, or takes too long.
    mutating func notWritten(_ write: AwaitedWrite, _ error: TokenStoreError, _ context: inout Context) {
        switch write {
        case .intent:
            forgetIntent(&context)
            failAttempt(because: "the store cannot be written", cause: error, &context)
        case .tokens(let new): commit(new, isStored: false, &context)
        case .end(let reason):
            // Another process may have stored newer tokens: a session in a shared store stays until that works (G14).
            guard context.settings.isShared else {
                return context.conclude(.ends(reason, revoking: nil, inStore: false))
            }
            // It was written in place of tokens that may not be stored yet: the store would keep an earlier session.
            forgetIntent(&context)
            failAttempt(because: "the end of the session cannot be stored", cause: error, &context)
        }
    }

    /// The store holds content of another process that a refresh must not replace (rule 3).
    mutating func superseded(by found: StoredSession, storing new: NewTokens?, _ context: inout Context) {
        switch relation(of: found) {
        case .ended(let tombstone):
            context.conclude(.ends(tombstone.reason, revoking: newestBundle, inStore: true))
        case .otherSession(let stored): context.conclude(.isReplaced(by: stored))
        case .outranked(let stored): prevail(over: stored, &context)
        case .newer(let stored):
            context.forgetWrites()
            adopt(stored, &context)
        case .nothing, .sameTokens:
            let isSame = found.bundle?.hasSameTokens(as: new?.bundle ?? bundle) ?? false
            if let new {
                commit(new, isStored: isSame, &context)
            } else if found.bundle != nil {
                persistence.found(isCurrent: isSame)
            }
        }
    }

    // MARK: The end of an attempt

    /// The new tokens are in use from here on.
    mutating func commit(_ new: NewTokens, isStored: Bool, _ context: inout Context) {
        let isFirstUnusable = bundle.accessToken.fitsHeaderField
        persistence.renewed(isStored: isStored)
        window.renew(new, at: context.now.date)
        if isStored { window.see(bundle, at: context.uptime) }
        pacing.renewed()
        context.emit(.report(.refreshed(session: bundle.session, generation: bundle.generation)))
        guard bundle.accessToken.fitsHeaderField else {
            // Each refresh spends a refresh token. A second one in a row shows that the next will bring none either.
            let pause = isFirstUnusable ? .zero : context.policy.ambiguousPause
            return failUnusable(because: new.problem, atLeast: pause, &context)
        }
        finishAttempt(isRenewed: true, &context)
    }

    /// The waiters continue with a token that is new, unless it has expired: its response may have been late or
    /// a repetition, a store may take longer to write a token than the token lives, and a server may issue one that no
    /// request can carry. Then a pause follows, and not the next refresh at once. Where the access token is not
    /// `isRenewed`, as another process has stored it with another refresh token, the waiters cause the next attempt.
    mutating func finishAttempt(isRenewed: Bool, _ context: inout Context) {
        if isRefreshing, isRenewed, window.urgency(at: context.uptime) == .expired { return failUnusable(&context) }
        leaseHolder = nil
        pacing.succeeded()
        rest(&context)
        if isRenewed {
            for waiter in context.callers.take(.attempt) { give(waiter, &context) }
            giveRefreshed(&context)
        } else {
            context.callers.move(from: .attempt, to: .pause)
        }
        serveQueue(&context)
    }

    private mutating func failUnusable(
        because problem: String? = nil, atLeast pause: Duration = .zero, _ context: inout Context
    ) {
        let waiters = bundle.accessToken.fitsHeaderField ? context.callers.take(.attempt) : []
        let reason = ["the new access token cannot be used", problem].compactMap(\.self).joined(separator: ": ")
        failAttempt(TokenRefreshError(.unavailable, reason: reason), atLeast: pause, &context)
        for waiter in waiters { waitForRefresh(waiter, &context) }
    }

    /// All waiters share the failure (G6), except those that can use a token which is still valid (G3).
    /// At least a pause of `least` follows; where another process has failed, only what is `left` of its pause.
    mutating func failAttempt(
        _ error: TokenRefreshError, atLeast least: Duration = .zero, exactly left: Duration? = nil,
        _ context: inout Context
    ) {
        let pause = left ?? pacing.failed(error, of: bundle.session, atLeast: least, &context)
        context.emit(.report(.refreshFailed(session: bundle.session, error: error, retryAfter: pause)))
        rest(&context)
        for waiter in context.callers.take(.attempt) { endWait(of: waiter, error, retryAfter: pause, &context) }
    }

    mutating func failAttempt(because reason: String, cause: (any Error)? = nil, _ context: inout Context) {
        failAttempt(TokenRefreshError(.unavailable, reason: reason, cause: cause), &context)
    }

    mutating func rest(_ context: inout Context) {
        guard isRefreshing else { return }
        stopDeadlines(&context)
        phase = .resting
    }
}
