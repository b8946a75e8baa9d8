import AuthInterface

/// The call: the intent that is recorded before it, the request, and what is stored of it afterwards (G12, G27).
extension ActiveSession {
    /// G27. The write of the intent shows that the store can be written before the refresh token is spent, also with
    /// tokens that could not be stored so far: after a kill now, the intent of an older bundle may recover them, and
    /// after one more call it cannot. A refresh token that is known not to be in the store is spent at once: no other
    /// process, and no later start, can use it. `first`: the call that may be under way beside this one.
    mutating func record(
        over stored: TokenBundle?, repeating first: Instant? = nil, _ id: AttemptID, _ context: inout Context
    ) {
        let key = calls.keyForCall(&context)
        let start = first ?? context.now
        let intent = key.intent(at: start.date, isAbandoned: first != nil, context)
        // A write that has not ended, or has failed, may have stored the tokens in use.
        let isBeingStored = context.store.bundleUnderWay?.hasSameTokens(as: bundle) ?? false
        let mustWait = persistence.isStored || persistence.isUncertain || isBeingStored
        let recording = Call.Recording(
            intent: intent, replaced: stored?.refreshIntent ?? calls.earlierIntent(context),
            since: start.uptime, startBefore: lastStart(since: start.uptime, context.clock))
        let version = write(intent, over: persistence.predecessor(stored), &context)
        guard mustWait else { return recorded(recording, id, &context) }
        phase = .refreshing(id, .writing(.intent(recording), version: version))
    }

    @discardableResult
    private func write(
        _ intent: RefreshIntent?, over predecessor: StoreContent.Predecessor, _ context: inout Context
    ) -> Int {
        context.write(.bundle(bundle.with(refreshIntent: intent), over: predecessor))
    }

    /// What the store holds where it has the tokens in use with an intent, and else what they may replace.
    private func predecessor(with intent: RefreshIntent?) -> StoreContent.Predecessor {
        persistence.predecessor(persistence.isCurrent ? bundle.with(refreshIntent: intent) : nil)
    }

    /// Rule 9: when no byte of a call may be written any more.
    private func lastStart(since: Duration, _ clock: MachineClock) -> Duration {
        let end = min(clock.uptime + clock.policy.deadline, since + clock.policy.longestCall)
        if case .within(let window) = clock.settings.tolerance { return min(end, since + window) }
        return end
    }

    mutating func recorded(_ recording: Call.Recording, _ id: AttemptID, _ context: inout Context) {
        let isLate = context.uptime >= recording.startBefore
        guard isLate || context.lease.isSuspending else { return makeCall(recording, id, &context) }
        restoreIntent(before: recording, recording.intent, &context)
        let reason = isLate ? "the store was too slow for a call" : "the process is about to be suspended"
        failAttempt(because: reason, &context)
    }

    mutating func makeCall(
        _ recording: Call.Recording, _ id: AttemptID, isReplay: Bool = false, _ context: inout Context
    ) {
        guard context.canRefresh(bundle) else { return rest(&context) }
        let key = calls.begin(id, recording, generation: bundle.generation, &context)
        var request = TokenRefreshRequest(
            refreshToken: bundle.refreshToken ?? "", accessToken: bundle.accessToken, session: bundle.session,
            idempotencyKey: key)
        request.binding = bundle.binding
        phase = .refreshing(id, .calling(isReplay: isReplay))
        context.limitCall(.callLimit(id), at: recording.since + context.policy.longestCall)
        context.emit(.call(id, base: bundle, request, startBefore: recording.startBefore))
    }

    /// G28. No byte of the call was written: it is no lost response. Its intent gives way to the one before it.
    mutating func callNotMade(_ id: AttemptID, _ error: TokenRefreshError, _ context: inout Context) {
        guard let ended = endCall(id, &context) else { return }
        calls.wasNotMade(ended)
        if ended.generation == bundle.generation, !isStoring {
            let stored = ended.mark == .none ? ended.intent : ended.intent.abandoned
            restoreIntent(before: ended.recording, stored, &context)
        }
        if case .refreshing(id, .calling) = phase { failAttempt(error, &context) }
    }

    mutating func endCall(_ id: AttemptID, _ context: inout Context) -> Call? {
        guard let ended = calls.call, ended.id == id else { return nil }
        calls.call = nil
        context.stopLimits(of: id)
        return ended
    }

    /// The session ends here.
    mutating func leave(_ context: inout Context) {
        stopDeadlines(&context)
        if let call = calls.call { context.emit(.withdrawCall(call.id)) }
    }

    private func restoreIntent(before recording: Call.Recording, _ stored: RefreshIntent, _ context: inout Context) {
        guard recording.replaced != stored else { return }
        write(recording.replaced, over: predecessor(with: stored), &context)
    }

    /// Drops the intent of a call that is not made, or the end of a session that stays. Tokens that are not stored yet
    /// are still written, with the key of an earlier call: the server may know it (G12).
    func forgetIntent(_ context: inout Context) {
        guard !persistence.isCurrent else { return context.forgetWrites() }
        write(calls.earlierIntent(context), over: persistence.predecessor(), &context)
    }

    /// Marks the intent of the call as abandoned. It needs no mark while new tokens are being stored.
    mutating func mark(_ context: inout Context) {
        guard let call = calls.call else { return }
        guard call.mark != .stored, call.generation == bundle.generation, !isStoring else {
            if call.progress == .abandoned { abandonCall(call.id, &context) }
            return
        }
        let version = write(call.intent.abandoned, over: predecessor(with: call.intent), &context)
        calls.call?.mark = .writing(version: version)
    }

    mutating func marked(_ call: Call, _ outcome: WriteOutcome, _ context: inout Context) {
        // A mark that could not be written is written again: the lease stays until then.
        if case .failed = outcome { return }
        calls.call?.mark = .stored
        if call.progress == .abandoned { abandonCall(call.id, &context) }
        if case .superseded(let found) = outcome { superseded(by: found, storing: nil, &context) }
    }

    mutating func abandonCall(_ id: AttemptID, _ context: inout Context) {
        _ = endCall(id, &context)
        if case .refreshing(_, .calling) = phase { failAttempt(because: "the call did not end", &context) }
    }

    /// Rule 7: a failure with a whole response is stored with the intent of its call, so that every process, and every
    /// later run of this one, observes its pause.
    mutating func markFailure(of call: Call, _ error: TokenRefreshError, _ context: inout Context) {
        guard call.generation == bundle.generation, call.mark == .none,
            !context.settings.isShared || context.lease.isHeld
        else { return }
        var intent = call.intent
        intent.failure = pacing.sharedFailure(error, at: context.now)
        // The failure of a replay says nothing of the call before it, whose response was lost.
        intent.firstDate = calls.firstCall?.date
        write(intent, over: predecessor(with: call.intent), &context)
    }
}
