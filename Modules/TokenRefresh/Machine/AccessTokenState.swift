import AuthInterface

/// How long an access token is valid, and how this process knows.
struct TokenValidity: Hashable, Sendable {
    var expiry: Expiry
    /// Since when it is valid, where that is a short time.
    var refreshedAt: Duration?
    /// Whether another process has made the refresh.
    var isAdopted = false
    /// Whether the expiry was counted in this process, on the monotonic clock, from a lifetime that is the server's.
    var isMeasured = false
    /// Whether the expiry is that of a sighting, because the date in the bundle is that of a wrong clock.
    var isSighted = false

    init(measured expiry: Expiry, refreshedAt: Duration? = nil, isCertain: Bool = true) {
        (self.expiry, self.refreshedAt, isMeasured) = (expiry, refreshedAt, isCertain)
    }

    /// Of the main token of a sign-in, received now.
    init(received bundle: TokenBundle, _ lifetime: TokenLifetime, _ moment: Moment) {
        self.init(
            measured: Expiry(
                received: bundle, lifetime: lifetime.duration, at: moment.uptime, policy: moment.policy),
            isCertain: lifetime.isCertain)
    }

    /// Of a token that the store holds. `sighting`: when it held the tokens before.
    init(stored token: AccessToken, of session: SessionID, after sighting: StoreSighting?, _ moment: Moment) {
        expiry = moment.expiry(ofStored: token, of: session, after: sighting)
        isSighted = expiry != moment.expiry(ofStored: token, of: session)
    }

    /// Of a token that another process has brought. One that it has just refreshed is as fresh as one of this process's
    /// (G10).
    init(adopted token: AccessToken, of session: SessionID, after sighting: StoreSighting?, _ moment: Moment) {
        self.init(stored: token, of: session, after: sighting, moment)
        isAdopted = true
        refreshedAt = token.age(at: moment.now.date).flatMap {
            $0 < moment.policy.freshness ? moment.uptime - $0 : nil
        }
    }

    /// G19: the server's clock is known from now on, so the expiry of a stored token counts on it, and no longer on a
    /// clock that can be set.
    mutating func serverClockKnown(_ token: AccessToken, of session: SessionID, _ moment: Moment) {
        guard !token.isDatedByDevice, token.isDatedByServer || !isSighted else { return }
        expiry = moment.expiry(ofStored: token, of: session)
    }
}

/// What is known of one access token of a session: the main one, or that of an audience. Its value is in the bundle.
struct AccessTokenState: Hashable, Sendable {
    var validity: TokenValidity
    var loops = LoopBreaker()
    /// The last failure that concerns this audience only.
    var failure: ActiveSession.Failure?
    /// How many there have been.
    var failures = 0

    /// An audience without a token.
    static let missing = AccessTokenState(validity: TokenValidity(measured: .past))
}

extension CallerRequest {
    /// The audience whose token is asked for. `nil`: the main one, or none.
    var audience: TokenAudience? {
        switch self {
        case .audienceToken(let audience): audience
        case .replacement(let refusal): refusal.token.audience
        case .token, .refresh, .restore, .settle: nil
        }
    }
}
