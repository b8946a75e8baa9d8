import AuthInterface
import Foundation

/// When an access token is too old to use, on the monotonic clock (G3).
///
/// The two windows before the end depend on the token's lifetime, its session and its generation only: processes that
/// share a token refresh it at the same age, and sessions that began together at different ages (G33).
struct Expiry: Hashable, Sendable {
    /// From here on the token is refreshed in the background. `nil`: never.
    let aheadFrom: Duration?
    /// From here on requests wait for the refresh.
    let leewayFrom: Duration?
    /// From here on the token is not sent.
    let end: Duration?

    /// A token without a known lifetime: valid until it is refused.
    static let unknown = Expiry(aheadFrom: nil, leewayFrom: nil, end: nil)

    enum Urgency: Hashable, Sendable { case none, ahead, due, expired }

    func urgency(at uptime: Duration) -> Urgency {
        if let end, uptime >= end { return .expired }
        if let leewayFrom, uptime >= leewayFrom { return .due }
        if let aheadFrom, uptime >= aheadFrom { return .ahead }
        return .none
    }
}

extension Expiry {
    /// The expiry of an access token that is received now.
    init(received bundle: TokenBundle, lifetime: Duration?, at uptime: Duration, policy: TokenRefreshPolicy) {
        self.init(of: bundle, end: lifetime.map { uptime + $0 }, lifetime: lifetime ?? .zero, policy)
    }

    /// The expiry of an access token from the store, as far as the clocks can be trusted (G19): `skew` is how far the
    /// server's clock is ahead of the device's now. `sighting`: when the store held the tokens before it, which refutes
    /// a date of another device's clock.
    init(
        stored bundle: TokenBundle, at now: Instant, skew: TimeInterval, after sighting: StoreSighting? = nil,
        policy: TokenRefreshPolicy
    ) {
        guard let expiresAt = bundle.expiresAt, expiresAt.isPlausible else {
            self.init(of: bundle, end: nil, lifetime: .zero, policy)
            return
        }
        let limit = policy.maximumLifetime / .seconds(1)
        let serverNow = now.date + skew
        let left = expiresAt.timeIntervalSince(serverNow.isPlausible ? serverNow : now.date)
        let shown = Duration.seconds(min(max(left, -limit), limit))
        let rest = sighting?.timeLeft(of: bundle, shown: shown, at: now.uptime) ?? shown
        let lifetime = min(bundle.lifetime ?? max(rest, .zero), policy.maximumLifetime)
        // A token has at most its lifetime left, even if the clock was set back.
        self.init(of: bundle, end: now.uptime + min(rest, max(lifetime, .zero)), lifetime: lifetime, policy)
    }

    /// A token without an end is valid until it is refused, and one that no request can carry never is.
    private init(of bundle: TokenBundle, end: Duration?, lifetime: Duration, _ policy: TokenRefreshPolicy) {
        guard let end, bundle.accessToken.fitsHeaderField else {
            let past = Expiry(aheadFrom: .zero, leewayFrom: .zero, end: .zero)
            self = bundle.accessToken.fitsHeaderField ? .unknown : past
            return
        }
        let leeway = min(policy.leeway, lifetime / 10)
        let ahead = max(min(policy.ahead, lifetime / 4), leeway)
        let delay = bundle.refreshDelay(within: ahead - leeway)
        self.init(aheadFrom: end - ahead + delay, leewayFrom: end - leeway, end: end)
    }
}

extension TokenBundle {
    /// How much later than others its session starts the refresh in the background (G33).
    ///
    /// The share of the time follows from session and generation by a hash that is the same in every process, build and
    /// version: FNV-1a (the algorithm of Fowler, Noll and Vo, with 64 bits), and the last step of SplitMix64, which
    /// mixes its high bits. `Hasher` has another seed in each process. The last eighth of the time is left to each
    /// session, so that a request starts the refresh before others must wait for it.
    func refreshDelay(within time: Duration) -> Duration {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func feed(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        for byte in session.rawValue.utf8 { feed(byte) }
        for place in 0..<8 { feed(UInt8(truncatingIfNeeded: generation >> (8 * place))) }
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        let share = Int((hash ^ (hash >> 31)) >> 48)
        return time / 8 * 7 / 65_536 * share
    }
}
