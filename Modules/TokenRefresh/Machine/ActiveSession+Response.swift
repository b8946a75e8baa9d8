import AuthInterface

/// The response of a call, and how an attempt ends.
extension ActiveSession {
    mutating func responded(_ id: AttemptID, base: TokenBundle, _ result: CallResult, _ context: inout Context) {
        let ended = endCall(id, &context)
        if let ended, case .failure(let error) = result { calls.failed(ended, error) }
        // G9. The tokens have changed since: the response belongs to an older generation.
        guard base.generation == bundle.generation else {
            context.stopLimits(of: id)
            return context.emit(.report(.responseDropped(session: base.session)))
        }
        switch (phase, result) {
        case (.refreshing(_, .writing(.tokens, _)), _), (.activating, _):
            context.emit(.report(.responseDropped(session: base.session)))
        case (_, .success(let tokens)): received(tokens, id, &context)
        case (.refreshing(id, .calling(let isReplay)), .failure(let error)):
            guard !isReplay, let ended, ended.isLost(by: error), mayReplay(ended, context) else {
                return failed(error, ended, id, &context)
            }
            var recording = ended.recording
            recording.replaced = recording.intent
            makeCall(recording, id, isReplay: true, &context)
        // After the deadline of the attempt a rejection counts all the same, and the pause that a server requests.
        case (.resting, .failure(let error)) where ended != nil && error.code != .ambiguous && error.isOfWholeResponse:
            failed(error, ended, id, &context)
        case (_, .failure): break
        }
    }

    /// G12. Where the server tolerates it, a call whose response was lost is replayed at once, with the same key.
    private func mayReplay(_ call: Call, _ context: Context) -> Bool {
        // Rule 9: the replay is a call with the same intent; no call with it starts after the server's grace window.
        // Rule 2: a suspension has released the lease, and another process may be calling.
        context.settings.tolerance != .none && context.uptime < call.recording.startBefore
            && !context.lease.isSuspending && (!context.settings.isShared || context.lease.isHeld)
    }

    private mutating func failed(_ error: TokenRefreshError, _ call: Call?, _ id: AttemptID, _ context: inout Context) {
        // G4. Only a rejection ends a session.
        guard pacing.isRejection(error, context.clock) else {
            failAttempt(error, &context)
            if let call, error.isOfWholeResponse { markFailure(of: call, error, &context) }
            return
        }
        // Without the lease, another process may have spent the refresh token, and not stored its tokens yet (rule 4).
        guard !context.settings.isShared || context.lease.isHeld else {
            return failAttempt(because: "rejected without the lease", cause: error, &context)
        }
        if isIdle { context.emit(.startTimer(.deadline(id), at: context.uptime + context.policy.storeLimit)) }
        // G13. Another process may have spent the refresh token: its tokens are in the store.
        read(id, after: error, &context)
    }

    /// New tokens are stored before any request uses them (G11): those that are only in memory are lost at the next
    /// launch, and with a server that rotates, the session with them. Their life counts from the first call that may
    /// have brought them (G19): the response may have been late, have lain in the socket of a process that slept, or
    /// repeat that of an earlier call.
    private mutating func received(_ tokens: TokenRefreshResult, _ id: AttemptID, _ context: inout Context) {
        // The call of a replay is not needed any more. It keeps the lease until it has ended or is abandoned.
        cancelCall(&context)
        let sent = context.clock.earlier(calls.firstCall?.uptime)
        let hasNewRefreshToken = tokens.refreshToken.map { !$0.isEmpty && $0 != bundle.refreshToken } ?? false
        calls.startOver(after: nil, context.clock)
        guard tokens.accessToken.fitsHeaderField || hasNewRefreshToken else {
            return failAttempt(because: "the new access token is unusable", &context)
        }
        let attempt = attempt(of: id, &context)
        let new = context.receive(
            tokens, of: bundle.session, bundle.ordinal, after: bundle, asked: bundle.scope, sentAt: sent)
        let version = context.write(.bundle(new.bundle, over: persistence.predecessor()))
        phase = .refreshing(attempt, .writing(.tokens(new), version: version))
        // The write replaces that of a mark, if one waits.
        if let call = calls.call, call.progress == .abandoned { abandonCall(call.id, &context) }
    }

    /// The attempt that the tokens of a call serve. The deadline of a later one stays: its callers wait now (G25).
    private func attempt(of id: AttemptID, _ context: inout Context) -> AttemptID {
        if case .refreshing(id, .calling) = phase { return id }
        context.emit(.report(.lateResponseKept(session: bundle.session, generation: bundle.generation + 1)))
        if case .refreshing(let later, _) = phase { return later }
        return id
    }

    /// G13. The write decides: tokens that another process has stored since the read stay, and are adopted.
    mutating func writeEnd(_ reason: SignOutReason, _ id: AttemptID, _ context: inout Context) {
        let scope = persistence.scope(ofRejected: bundle)
        let version = context.write(.tombstone(reason, at: context.now.date, of: scope))
        phase = .refreshing(id, .writing(.end(reason), version: version))
    }

    func ending(_ error: TokenRefreshError?, _ context: Context) -> SessionEnding {
        var ending = SessionEnding(
            status: error?.status, code: error?.serverCode ?? error?.code.rawValue, requestID: error?.requestID,
            date: context.now.date, process: context.settings.owner.process)
        ending.challenge = error?.challenge
        return ending
    }
}
