import AuthInterface
import Foundation

/// The tokens in use: how long the access token may be sent, and which endpoints refuse it.
///
/// New tokens replace all that is known of those before them, but for what the ``LoopBreaker`` knows: it outlives a
/// refresh (G10).
struct AccessTokenWindow: Hashable, Sendable {
    /// The tokens in use. An intent is in the store only.
    private(set) var bundle: TokenBundle { didSet { shared = bundle.token } }
    /// The access token, which all requests share.
    private var shared: SessionToken
    private var validity: TokenValidity
    private var loops = LoopBreaker()
    /// When the store has held the tokens. `nil`: not known, or they have no lifetime.
    private(set) var sighting: StoreSighting?
    private(set) var lastRefresh: Date?

    init(_ bundle: TokenBundle, _ validity: TokenValidity) {
        self.bundle = bundle
        shared = bundle.token
        self.validity = validity
    }

    /// Tokens that the store holds. `earlier`: when it held the tokens before them.
    init(stored bundle: TokenBundle, after earlier: StoreSighting?, _ clock: MachineClock) {
        self.init(bundle.with(refreshIntent: nil), TokenValidity(stored: bundle, after: earlier, clock))
        see(bundle, at: clock.uptime)
    }

    // MARK: New tokens

    private mutating func use(_ new: NewTokens) {
        bundle = new.bundle
        validity = new.validity
        sighting = nil
    }

    mutating func renew(_ new: NewTokens, at date: Date) {
        use(new)
        lastRefresh = date
    }

    /// The tokens of another process, which the store holds. What is known of the access token stays while the token
    /// does.
    mutating func adopt(_ found: TokenBundle, _ clock: MachineClock) {
        let old = bundle
        // An earlier version drops the ordinal when it refreshes: the next bundle has it again.
        bundle = found.with(refreshIntent: nil).with(ordinal: max(found.ordinal, old.ordinal))
        if bundle.accessToken != old.accessToken {
            validity = TokenValidity(stored: bundle, after: sighting, clock)
            validity.isAdopted = true
            // G10. Those that another process has just refreshed are as fresh as this process's.
            let age = bundle.age(at: clock.now.date)
            validity.refreshedAt = age.flatMap { $0 < clock.policy.freshness ? clock.uptime - $0 : nil }
        }
        sighting = nil
        see(found, at: clock.uptime)
    }

    /// The tokens of a step-up: what endpoints have refused says nothing of them.
    mutating func stepUp(_ new: NewTokens) {
        use(new)
        loops = LoopBreaker()
    }

    mutating func move(to generation: Int) { bundle = bundle.moved(to: generation) }

    // MARK: What is known of them

    var expiry: Expiry { validity.expiry }
    func urgency(at uptime: Duration) -> Expiry.Urgency { validity.expiry.urgency(at: uptime) }

    /// Whether no clock that can be set has a part in the expiry of the token.
    func isExpiryCertain(_ clock: MachineClock) -> Bool {
        validity.isMeasured || (clock.serverClock.isKnown && bundle.isDatedByServer)
    }

    func token(_ issuance: SessionToken.Issuance) -> SessionToken {
        var token = shared
        token.issuance = issuance
        return token
    }

    /// G19: the server's clock is known from now on, so the expiry of a stored token counts on it, and no longer on a
    /// clock that can be set.
    mutating func serverClockKnown(_ clock: MachineClock) {
        guard !bundle.isDatedByDevice, bundle.isDatedByServer || !validity.isSighted else { return }
        validity.expiry = clock.expiry(ofStored: bundle)
    }

    /// The store holds a bundle. Without an intent, no refresh of its tokens was under way.
    mutating func see(_ stored: TokenBundle, at uptime: Duration) {
        guard stored.refreshIntent == nil, stored.hasSameTokens(as: bundle), stored.lifetime != nil else { return }
        sighting = StoreSighting(unchangedAt: uptime)
    }

    mutating func changeReported(at uptime: Duration) { sighting?.changeReported(at: uptime) }

    /// How long an endpoint still causes no refresh.
    func pause(of endpoint: String?, at uptime: Duration) -> Duration? {
        urgency(at: uptime) == .expired ? nil : loops.pause(of: endpoint, at: uptime)
    }

    /// G10: how long the refusing endpoint causes no refresh from here on. `nil`: the token is refreshed.
    mutating func refused(_ refusal: TokenRefusal, _ clock: MachineClock) -> Duration? {
        let uptime = clock.uptime
        // A token that lives for seconds is old sooner.
        let freshness = bundle.lifetime.map { min(clock.policy.freshness, $0 / 4) } ?? clock.policy.freshness
        let isReplacement = refusal.token.issuance.replacedAt.map { uptime < $0 + freshness } ?? false
        let isFresh = validity.refreshedAt.map { uptime < $0 + freshness } ?? false
        guard urgency(at: uptime) != .expired, isReplacement || isFresh else { return nil }
        return loops.refused(
            by: refusal.endpoint, isReplacement: isReplacement, isAdopted: validity.isAdopted, at: uptime,
            cooldown: clock.policy.refusalCooldown)
    }
}

/// Tokens that this process has just received.
struct NewTokens: Hashable, Sendable {
    let bundle: TokenBundle
    let validity: TokenValidity
    /// Why the access token cannot be used, as the handler says.
    let problem: String?
}

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
        expiry = Expiry(of: bundle, lifetime: lifetime.duration, at: sent ?? clock.uptime, policy: clock.policy)
        refreshedAt = sent
        isMeasured = lifetime.isCertain
    }

    /// Of tokens that the store holds. `sighting`: when it held the tokens before.
    init(stored bundle: TokenBundle, after sighting: StoreSighting?, _ clock: MachineClock) {
        expiry = clock.expiry(ofStored: bundle, after: sighting)
        isSighted = expiry != clock.expiry(ofStored: bundle)
    }
}

/// When the store has held the tokens in use: tokens that replace them later were received later, also where the clock
/// of the process that received them says otherwise (G19).
struct StoreSighting: Hashable, Sendable {
    /// How late a change may be reported.
    private static let reportDelay: Duration = .seconds(5)
    /// Clocks that agree may differ by this.
    private static let tolerance: Duration = .seconds(5)

    /// The store held them then, and no refresh was under way.
    private let unchangedAt: Duration
    /// The first report of a change since then.
    private var changedAt: Duration?

    init(unchangedAt uptime: Duration) { unchangedAt = uptime }

    mutating func changeReported(at uptime: Duration) { changedAt = changedAt ?? uptime }

    /// The time that tokens are still valid which were stored since; `nil` where the clocks may be right: the tokens
    /// were received after the sighting.
    func timeLeft(of bundle: TokenBundle, shown: Duration, at uptime: Duration) -> Duration? {
        guard let lifetime = bundle.lifetime, lifetime - shown > uptime - unchangedAt + Self.tolerance else {
            return nil
        }
        let reported = changedAt.map { $0 - Self.reportDelay } ?? unchangedAt
        return lifetime - (uptime - max(unchangedAt, reported))
    }
}
