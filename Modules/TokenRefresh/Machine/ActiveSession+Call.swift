import AuthInterface
import Foundation

/// The call: the intent that is recorded before it, and the request (G12, G27).
extension ActiveSession {
    /// G27. The write of the intent shows that the store can be written before the refresh token is spent. That applies
    /// to tokens that could not be stored so far, too: after a kill now, the intent of an older bundle may recover
    /// them, and after one more call it cannot. A refresh token that is known not to be in the store is spent at once:
    /// no other process, and no later start, can use it. A later write stores it with the intent.
    mutating func record(over stored: TokenBundle?, repeating repetition: Repetition? = nil, _ id: AttemptID) {
        let (key, since) = (currentKey(), repetition?.since ?? uptime)
        let intent = intent(key, at: repetition?.date ?? now.date, isAbandoned: repetition != nil)
        let mustWait = isStored || mayBeStored
        let recording = Recording(
            intent: intent, replaced: stored?.refreshIntent ?? earlierIntent,
            version: context.write(.bundle(bundle.with(refreshIntent: intent), over: predecessor(stored))),
            since: since, startBefore: lastStart(since: since))
        if mustWait { phase = .refreshing(id, .recording(recording)) } else { recorded(recording, id) }
    }

    /// Rule 9: when no byte of a call may be written any more.
    private func lastStart(since: Duration) -> Duration {
        let end = min(uptime + policy.deadline, since + policy.longestCall)
        if case .within(let window) = settings.tolerance { return min(end, since + window) }
        return end
    }

    /// The intent is stored.
    mutating func recorded(_ recording: Recording, _ id: AttemptID) {
        let isLate = uptime >= recording.startBefore
        guard isLate || context.lease.isSuspending else { return makeCall(recording, id) }
        restoreIntent(before: recording, recording.intent)
        let reason = isLate ? "the store was too slow for a call" : "the process is about to be suspended"
        failAttempt(TokenRefreshError(.unavailable, reason: reason))
    }

    /// G28. No byte of the call was written: it is no lost response. Its intent gives way to the one before it.
    mutating func callNotMade(_ id: AttemptID, _ error: TokenRefreshError) {
        guard let ended = call, ended.id == id else { return }
        endCall()
        if key?.value == ended.keyBefore.value { key = ended.keyBefore }
        if ended.generation == bundle.generation, !isStoring {
            restoreIntent(before: ended.recording, ended.mark == .none ? ended.intent : ended.intent.abandoned)
        }
        if case .refreshing(id, .calling) = phase { failAttempt(error) }
    }

    /// The session ends here.
    mutating func leave() {
        stopDeadlines()
        if let call { emit(.withdrawCall(call.id)) }
    }

    private mutating func restoreIntent(before recording: Recording, _ stored: RefreshIntent) {
        guard recording.replaced != stored else { return }
        let over = predecessor(persistence == .current ? bundle.with(refreshIntent: stored) : nil)
        _ = context.write(.bundle(bundle.with(refreshIntent: recording.replaced), over: over))
    }

    /// Whether a write that has not ended, or has failed, may have stored the tokens in use.
    var mayBeStored: Bool {
        if case .nothing(_, isUncertain: true) = persistence { return true }
        return context.store.bundleUnderWay?.hasSameTokens(as: bundle) ?? false
    }

    /// The stored content that the tokens in use may replace: what was read, if these tokens were there. A store that
    /// has gone back to an older bundle, as from a backup, is brought up to date.
    func predecessor(_ read: TokenBundle?) -> StoreContent.Predecessor {
        if let read { return .exactly(read) }
        if case .nothing(let ends, _) = persistence { return .lower(ends: ends) }
        return .older
    }

    /// Drops the intent of a call that is not made, or the end of a session that stays. Tokens that are not stored yet
    /// are still written, with the key of an earlier call: the server may know it (G12).
    mutating func forgetIntent() {
        if persistence == .current {
            context.forgetWrites()
        } else {
            _ = context.write(.bundle(bundle.with(refreshIntent: earlierIntent), over: predecessor(nil)))
        }
    }

    /// The intent of an earlier call with the key, which counts again where the next call is not made. Its date is that
    /// of the first call, from which a tolerance of the server counts. `nil`: there was no call.
    var earlierIntent: RefreshIntent? {
        key.flatMap { key in
            key.isUsed ? intent(key, at: key.firstCall?.date ?? now.date) : nil
        }
    }

    /// The key of the next call: that of an earlier one, until a response to it has been applied.
    mutating func currentKey() -> CallKey {
        if let key { return key }
        let key = CallKey(new: context.newKey(), at: uptime)
        self.key = key
        return key
    }

    private func intent(_ key: CallKey, at date: Date, isAbandoned: Bool = false) -> RefreshIntent {
        RefreshIntent(
            idempotencyKey: key.value,
            owner: settings.owner,
            date: date,
            firstDate: key.firstCall?.date,
            longestCall: policy.longestCall,
            isAbandoned: isAbandoned,
            lease: context.lease.identity
        )
    }

    mutating func makeCall(_ recording: Recording, _ id: AttemptID, isReplay: Bool = false) {
        guard isRefreshable else { return rest() }
        let key = currentKey()
        self.key = key.used(at: now)
        var request = TokenRefreshRequest(
            refreshToken: bundle.refreshToken ?? "",
            accessToken: bundle.accessToken,
            session: bundle.session,
            idempotencyKey: key.value
        )
        request.binding = bundle.binding
        phase = .refreshing(id, .calling(isReplay: isReplay))
        call = Call(id: id, recording: recording, generation: bundle.generation, keyBefore: key)
        context.limitCall(.callLimit(id), at: recording.since + policy.longestCall)
        emit(.call(id, base: bundle, request, startBefore: recording.startBefore))
    }
}
