import AuthInterface

/// The tokens that a follower uses: those of the owner's newest bundle, without the refresh token.
struct FollowedTokens: Sendable {
    let bundle: TokenBundle
    let token: SessionToken
    private(set) var expiry: Expiry
    /// Whether the token had expired as it came, by a clock that is not known to be right: it is tried once.
    private var isUntried = false

    /// `current`: the tokens in use so far. Their access token is not new.
    init(_ bundle: TokenBundle, after current: FollowedTokens?, _ clock: MachineClock) {
        self.bundle = bundle.withoutRefreshToken
        var token = self.bundle.token
        token.issuance = .init(isFollowed: true)
        self.token = token
        expiry = clock.expiry(ofStored: bundle)
        let isNew = token.value.fitsHeaderField && token.value != current?.token.value
        isUntried = isNew && !isCertain(clock) && readyToken(at: clock.uptime) == nil
    }

    var session: SessionID { bundle.session }

    /// The token, if it is young enough to send.
    func readyToken(at uptime: Duration) -> SessionToken? {
        expiry.urgency(at: uptime) < .due ? token : nil
    }

    /// The token for a request, if it is young enough to send, or is to be tried.
    mutating func takeToken(at uptime: Duration) -> SessionToken? {
        if let ready = readyToken(at: uptime) { return ready }
        let tried = isUntried ? token : nil
        isUntried = false
        return tried
    }

    mutating func serverClockKnown(_ clock: MachineClock) {
        expiry = clock.expiry(ofStored: bundle)
        if isCertain(clock) { isUntried = false }
    }

    /// Whether the expiry counts on the server's clock, and not on that of a device.
    private func isCertain(_ clock: MachineClock) -> Bool { clock.serverClock.isKnown && !bundle.isDatedByDevice }
}
