import AuthInterface
import Foundation

/// The call: the intent that is recorded before it, and the request (G12, G27).
extension ActiveSession {
    /// G27. The write of the intent shows that the store can be written before the refresh token is spent. That applies
    /// to tokens that could not be stored so far, too: after a kill now, the intent of an older bundle may recover
    /// them, and after one more call it cannot. A refresh token that is known not to be in the store is spent at once:
    /// no other process, and no later start, can use it. A later write stores it with the intent.
    mutating func record(over stored: TokenBundle?, repeating repetition: Repetition? = nil, _ id: AttemptID) {
        let (key, date) = (currentKey(), repetition?.date ?? now.date)
        let intent = intent(key, at: date, isAbandoned: repetition != nil)
        let mustWait = isStored || mayBeStored
        let version = context.write(.bundle(bundle.with(refreshIntent: intent), over: predecessor(stored)))
        if mustWait {
            let end = min(uptime + policy.deadline, repetition?.until ?? .seconds(Int32.max))
            let since = repetition?.since ?? uptime
            let recording = Recording(intent: intent, version: version, since: since, callBefore: end)
            phase = .refreshing(id, .recording(recording))
        } else {
            makeCall(intent, since: uptime, id)
        }
    }

    /// The intent is stored. A process that was stopped meanwhile must not call after the time at which other processes
    /// count its call as ended.
    mutating func recorded(_ recording: Recording, _ id: AttemptID) {
        guard uptime < recording.callBefore else {
            forgetIntent()
            return failAttempt(TokenRefreshError(.unavailable, reason: "the store was too slow for a call"))
        }
        makeCall(recording.intent, since: recording.since, id)
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
        return isStored ? .older : .begunBefore(begunAt, replacing: endScope.sessions)
    }

    /// Drops the intent of a call that is not made, or the end of a session that stays. Tokens that are not stored yet
    /// are still written, with the key of an earlier call: the server may know it (G12).
    mutating func forgetIntent() {
        if persistence == .current {
            context.forgetWrites()
        } else {
            let earlier = key.flatMap { key in
                key.isUsed ? intent(key, at: now.date) : nil
            }
            _ = context.write(.bundle(bundle.with(refreshIntent: earlier), over: predecessor(nil)))
        }
    }

    mutating func currentKey() -> CallKey {
        let key = key ?? CallKey(new: context.newKey(), at: uptime)
        self.key = key
        return key
    }

    private func intent(_ key: CallKey, at date: Date, isAbandoned: Bool = false) -> RefreshIntent {
        RefreshIntent(
            idempotencyKey: key.value,
            owner: settings.owner,
            date: date,
            firstDate: key.firstCall?.date,
            isAbandoned: isAbandoned,
            lease: context.lease.identity
        )
    }

    mutating func makeCall(_ intent: RefreshIntent, since: Duration, _ id: AttemptID, isReplay: Bool = false) {
        guard let refreshToken = bundle.refreshToken, !refreshToken.isEmpty else { return rest() }
        var key = currentKey()
        let isFirst = key.use(at: now)
        self.key = key
        let request = TokenRefreshRequest(
            refreshToken: refreshToken,
            accessToken: bundle.accessToken,
            session: bundle.session,
            idempotencyKey: key.value
        )
        phase = .refreshing(id, .calling(isReplay: isReplay))
        call = Call(id: id, startedAt: since, generation: bundle.generation, intent: intent, isFirst: isFirst)
        context.limitCall(.callLimit(id), at: since + policy.longestCall)
        emit(.call(id, base: bundle, request))
    }
}
