import AuthInterface
import Foundation

/// The access tokens of a session (RFC 8707): the main one, and those of other audiences. One refresh token brings them
/// all, so one refresh at a time is made for the session, for all audiences.
extension ActiveSession {
    /// What is known of the access token of an audience.
    subscript(audience: TokenAudience?) -> AccessTokenState {
        get { audience.map { others[$0] ?? .missing } ?? main }
        _modify {
            if let audience { yield &others[audience, default: .missing] } else { yield &main }
        }
    }

    func expiry(of audience: TokenAudience?) -> Expiry {
        guard let audience else { return main.validity.expiry }
        return others[audience]?.validity.expiry ?? .past
    }

    /// Whether the handler can ask a token for an audience.
    func isListed(_ audience: TokenAudience?) -> Bool { audience.map(settings.audiences.contains) ?? true }

    /// The last failed attempt that holds for an audience: of the session, or of the audience alone.
    func lastFailure(of audience: TokenAudience?) -> Failure? {
        let own = audience == nil ? main.failure : self[audience].failure
        guard let own else { return failure }
        guard let failure, failure.until >= own.until else { return own }
        return failure
    }

    /// The time until the next attempt for an audience may start, where the last one has failed.
    func pauseLeft(of audience: TokenAudience?) -> Duration? {
        lastFailure(of: audience).flatMap { $0.until > uptime ? $0.until - uptime : nil }
    }

    /// How many failures the requests of an audience have shared.
    func failureCount(of audience: TokenAudience?) -> Int {
        failures + (audience == nil ? main.failures : self[audience].failures)
    }

    /// When the first of the pauses ends that are not over.
    var nextPauseEnd: Duration? {
        let ends = [failure?.until, main.failure?.until] + others.values.map { $0.failure?.until }
        return ends.compactMap(\.self).filter { $0 > uptime }.min()
    }

    /// The access tokens of other audiences that can be used without an event.
    var readyTokens: [TokenAudience: MachineState.ReadyToken] {
        others.keys.reduce(into: [:]) { $0[$1] = readyToken(of: $1) }
    }

    /// The server issues no token for the audience of a call. Requests of others continue.
    ///
    /// It has looked at the call, and has spent nothing, now or for an earlier call with the key: so another audience
    /// needs no response to it.
    mutating func refusedAudience(of call: Call, _ error: TokenRefreshError) {
        key = nil
        failAttempt(error, of: call.intent.audience, marking: error.status == nil ? nil : call)
    }

    /// Fails the waiters of one audience. Those of others cause the next attempt.
    mutating func failAttempt(
        _ error: TokenRefreshError, of audience: TokenAudience?, exactly left: Duration? = nil,
        marking call: Call? = nil
    ) {
        failAttempt(error, exactly: left, .audience(audience))
        if let call { markFailure(of: call, error) }
        serveQueue()
    }

    /// Uses what the store holds for other audiences.
    mutating func useStoredAudiences(_ moment: Moment) {
        for (audience, token) in bundle.audienceTokens where moment.settings.audiences.contains(audience) {
            let validity = TokenValidity(stored: token, of: bundle.session, after: nil, moment)
            others[audience] = AccessTokenState(validity: validity)
        }
    }

    /// Uses an access token that another process has brought, where it is another one than before. What this process
    /// knows of a token stays while the token does.
    mutating func adoptToken(of audience: TokenAudience?, replacing old: TokenBundle) {
        guard bundle.value(for: audience) != old.value(for: audience) else { return }
        self[audience].failure = nil
        guard let token = bundle[audience] else {
            self[audience].validity = TokenValidity(measured: .past)
            return
        }
        self[audience].validity = TokenValidity(adopted: token, of: bundle.session, after: sighting, moment)
    }

    /// G19: the server's clock is known.
    mutating func serverClockKnown() {
        let (session, moment) = (bundle.session, moment)
        main.validity.serverClockKnown(bundle.main, of: session, moment)
        for (audience, token) in bundle.audienceTokens {
            others[audience]?.validity.serverClockKnown(token, of: session, moment)
        }
    }

    /// The new tokens of a call. The refresh token is used for any audience of the access token. The access token of an
    /// audience that this handler does not list is not: the call has only completed that of another handler.
    func renewal(
        by tokens: TokenRefreshResult, for audience: TokenAudience?, lifetime: Duration?, sentAt sent: Instant
    ) -> Renewal {
        guard isListed(audience) else {
            let refreshToken = tokens.refreshToken.flatMap { $0.isEmpty ? nil : $0 }
            let moved = bundle.moved(to: bundle.generation + 1, refreshToken: refreshToken)
            return Renewal(bundle: moved, audience: audience, validity: nil)
        }
        let new = bundle.renewed(by: tokens, for: audience, lifetime: lifetime, moment.serverClock, sent)
        let token = new[audience] ?? new.main
        let expiry = Expiry(received: token, of: new.session, lifetime: lifetime, at: sent.uptime, policy: policy)
        return Renewal(
            bundle: new, audience: audience, validity: TokenValidity(measured: expiry, refreshedAt: sent.uptime))
    }
}

extension ActiveSession {
    /// New tokens that are being stored.
    struct Renewal: Hashable, Sendable {
        let bundle: TokenBundle
        /// Whose access token came.
        let audience: TokenAudience?
        /// What is known of that token. `nil`: the access tokens stay, and the refresh token is new.
        var validity: TokenValidity?
    }

    /// What a failed attempt says something of.
    enum FailureScope: Hashable, Sendable {
        case session
        /// Requests of one audience only.
        case audience(TokenAudience?)
    }
}
