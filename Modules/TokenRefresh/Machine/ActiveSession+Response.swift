import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The response of a call, and how an attempt ends.
extension ActiveSession {
    mutating func responded(
        _ id: AttemptID,
        base: TokenBundle,
        _ result: Result<TokenRefreshResult, TokenRefreshError>
    ) {
        let ended = call.flatMap { $0.id == id ? $0 : nil }
        if let ended {
            endCall()
            if ended.isFirst, case .failure(let error) = result, RefreshStatus(error.status).provesNoExchange {
                key?.firstCall = nil
            }
        }
        // G9. The tokens have changed since: the response belongs to an older generation.
        guard base.session == bundle.session, base.generation == bundle.generation else {
            context.stopLimits(of: id)
            return emit(.report(.responseDropped(session: base.session)))
        }
        switch (phase, result) {
        case (.refreshing(_, .storing), _), (.activating, _):
            emit(.report(.responseDropped(session: base.session)))
        case (_, .success(let tokens)):
            return received(tokens, id)
        case (.refreshing(id, .calling(let isReplay)), .failure(let error)):
            guard !isReplay, let ended, ended.isLost(by: error), mayReplay(ended) else {
                return failed(error, ended, id)
            }
            var recording = ended.recording
            recording.replaced = recording.intent
            makeCall(recording, id, isReplay: true)
        // The attempt has missed its deadline. A rejection counts all the same, and so does the pause that a server
        // requests.
        case (.resting, .failure(let error)) where ended != nil && error.countsLate:
            return failed(error, ended, id)
        case (_, .failure): break
        }
    }

    mutating func endCall() {
        guard let id = call?.id else { return }
        call = nil
        context.stopLimits(of: id)
    }

    /// G12. Where the server tolerates it, a call whose response was lost is replayed at once, with the same key.
    func mayReplay(_ call: Call) -> Bool {
        // Rule 9: the replay is a call with the same intent; no call with it starts after the server's grace window.
        // Rule 2: a suspension has released the lease, and another process may be calling.
        settings.tolerance != .none && uptime < call.recording.startBefore && !context.lease.isSuspending
            && (!settings.isShared || context.lease.isHeld)
    }

    mutating func failed(_ error: TokenRefreshError, _ call: Call?, _ id: AttemptID) {
        // G4. Only a rejection ends a session.
        guard isRejection(error) else {
            failAttempt(error)
            if let call, error.isOfWholeResponse { markFailure(of: call, error) }
            return
        }
        // Without the lease, another process may have spent the refresh token, and not stored its tokens yet (rule 4).
        guard !settings.isShared || context.lease.isHeld else {
            return failAttempt(TokenRefreshError(.unavailable, reason: "rejected without the lease", cause: error))
        }
        // G13. Another process may have spent the refresh token: its tokens are in the store.
        if case .resting = phase {
            emit(.startTimer(.deadline(id), at: uptime + policy.storeLimit))
        }
        readStore(id, .verifying(error, isStale: false))
    }

    func isRejection(_ error: TokenRefreshError) -> Bool {
        switch error.code {
        case .rejected: true
        case .ambiguous:
            switch policy.ambiguity {
            case .never: false
            case .always: true
            case .repeated:
                refusals?.isConfirmed(by: error, at: uptime, policy.ambiguityPeriod) ?? false
            }
        default: false
        }
    }

    /// G13. The write decides: tokens that another process has stored since the read stay, and are adopted.
    mutating func end(_ rejection: TokenRefreshError, _ id: AttemptID) {
        let reason = SignOutReason.expired(ending(rejection))
        let version = context.write(.tombstone(reason, at: now.date, of: rejectedScope))
        phase = .refreshing(id, .ending(reason, version: version))
    }

    /// The end of the session was written, or could not be.
    mutating func endWritten(_ reason: SignOutReason, _ outcome: WriteOutcome) {
        switch outcome {
        case .written: conclude(.ends(reason, revoking: nil, inStore: true))
        case .failed(let error): endFailed(reason, error)
        case .superseded(let found): superseded(by: found, storing: nil)
        }
    }

    /// The end could not be written. Another process may have stored newer tokens, so a session in a shared store stays
    /// until the store works (G14).
    mutating func endFailed(_ reason: SignOutReason, _ error: TokenStoreError) {
        guard settings.isShared else { return conclude(.ends(reason, revoking: nil, inStore: false)) }
        // The end was written in place of tokens that may not be stored yet: without them the store would keep the
        // session before this one.
        forgetIntent()
        failAttempt(TokenRefreshError(.unavailable, reason: "the end of the session cannot be stored", cause: error))
    }

    func ending(_ error: TokenRefreshError?) -> SessionEnding {
        var ending = SessionEnding(
            status: error?.status,
            code: error?.serverCode ?? error?.code.rawValue,
            requestID: error?.requestID,
            date: now.date,
            process: settings.owner.process
        )
        ending.challenge = error?.challenge
        return ending
    }

    /// New tokens. They are stored before any request uses them (G11): a token that is only in memory is lost at the
    /// next launch, and with a server that rotates, the session with it.
    ///
    /// Their life counts from the first call that may have brought them, and not from the receipt (G19): the response
    /// may have been late, have lain in the socket of a process that slept, or repeat that of an earlier call.
    mutating func received(_ tokens: TokenRefreshResult, _ id: AttemptID) {
        // The call of a replay, if one is under way, is not needed any more. It keeps the lease until it has ended or
        // is abandoned.
        if let id = call?.id { _ = callLimitPassed(id) }
        let sent = moment.earlier(key?.firstCall?.uptime)
        let hasNewRefreshToken = tokens.refreshToken.map { !$0.isEmpty && $0 != bundle.refreshToken } ?? false
        key = nil
        guard tokens.accessToken.fitsHeaderField || hasNewRefreshToken else {
            return failAttempt(TokenRefreshError(.unavailable, reason: "the new access token is unusable"))
        }
        let (attempt, isLate): (AttemptID, Bool)
        switch phase {
        case .refreshing(id, .calling): (attempt, isLate) = (id, false)
        // The deadline of a later attempt stays: its callers wait for the write now (G25).
        case .refreshing(let later, _): (attempt, isLate) = (later, true)
        case .resting, .activating: (attempt, isLate) = (id, true)
        }
        if isLate {
            let (session, generation) = (bundle.session, bundle.generation + 1)
            emit(.report(.lateResponseKept(session: session, generation: generation)))
        }
        let lifetime = context.lifetime(of: tokens, for: bundle.session, sentAt: sent)
        context.reportMissingScope(of: tokens, after: bundle, bundle.session)
        let new = bundle.renewed(by: tokens, lifetime: lifetime.duration, moment.serverClock, sent)
        let validity = TokenValidity(
            measured: Expiry(received: new, lifetime: lifetime.duration, at: sent.uptime, policy: policy),
            refreshedAt: sent.uptime, isCertain: lifetime.isCertain)
        let renewal = Renewal(bundle: new, validity: validity, problem: tokens.accessTokenProblem)
        let version = context.write(.bundle(new, over: predecessor(nil)))
        phase = .refreshing(attempt, .storing(renewal, version: version))
        // The write replaces that of a mark, if one waits.
        if call?.progress == .abandoned { abandonCall() }
    }
}

extension TokenRefreshError {
    /// Whether a response that comes after its deadline says something of the session, or of the server.
    fileprivate var countsLate: Bool { code != .ambiguous && isOfWholeResponse }

    /// Whether a response of success came that nothing can be made of: the refresh token is spent.
    var hasSpent: Bool { code == .unavailable && RefreshStatus(status).isSuccess }
}

/// The status of the response to a call.
struct RefreshStatus {
    private let value: Int?

    init(_ value: Int?) {
        self.value = value
    }

    /// Whether the response says that the refresh token was not exchanged. A server or a gateway that has failed may
    /// have exchanged it before.
    var provesNoExchange: Bool { value.map { ($0 < 500 || $0 == 503) && !isSuccess } ?? false }

    var isSuccess: Bool { value.map { (200..<300).contains($0) } ?? false }
}
