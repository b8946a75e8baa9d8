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

    /// Of tokens that were received now: those of a sign-in, or of a refresh whose call was `sent`.
    init(received bundle: TokenBundle, _ lifetime: TokenLifetime, sent: Duration? = nil, _ clock: MachineClock) {
        expiry = Expiry(received: bundle, lifetime: lifetime.duration, at: sent ?? clock.uptime, policy: clock.policy)
        refreshedAt = sent
        isMeasured = lifetime.isCertain
    }

    /// Of tokens that the store holds. `sighting`: when it held the tokens before.
    init(stored bundle: TokenBundle, after sighting: StoreSighting?, _ clock: MachineClock) {
        expiry = clock.expiry(ofStored: bundle, after: sighting)
        isSighted = expiry != clock.expiry(ofStored: bundle)
    }

    /// Of tokens that another process has brought. Those that it has just refreshed are as fresh as this process's
    /// (G10).
    init(adopted bundle: TokenBundle, after sighting: StoreSighting?, _ clock: MachineClock) {
        self.init(stored: bundle, after: sighting, clock)
        isAdopted = true
        refreshedAt = bundle.age(at: clock.now.date).flatMap {
            $0 < clock.policy.freshness ? clock.uptime - $0 : nil
        }
    }

    /// G19: the server's clock is known from now on, so the expiry of a stored token counts on it, and no longer on a
    /// clock that can be set.
    mutating func serverClockKnown(_ bundle: TokenBundle, _ clock: MachineClock) {
        guard !bundle.isDatedByDevice, bundle.isDatedByServer || !isSighted else { return }
        expiry = clock.expiry(ofStored: bundle)
    }
}
