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

    enum Urgency: Comparable, Sendable { case none, ahead, due, expired }

    func urgency(at uptime: Duration) -> Urgency {
        if let end, uptime >= end { return .expired }
        if let leewayFrom, uptime >= leewayFrom { return .due }
        if let aheadFrom, uptime >= aheadFrom { return .ahead }
        return .none
    }
}

extension Expiry {
    /// The expiry of an access token of which so much is `left`; `nil`: its whole lifetime. A token without a lifetime
    /// is valid until it is refused, and one that no request can carry never is.
    init(
        of bundle: TokenBundle, lifetime: Duration?, left: Duration? = nil, at uptime: Duration,
        policy: TokenRefreshPolicy
    ) {
        guard let lifetime, bundle.accessToken.fitsHeaderField else {
            let past = Expiry(aheadFrom: .zero, leewayFrom: .zero, end: .zero)
            self = bundle.accessToken.fitsHeaderField ? .unknown : past
            return
        }
        let end = uptime + (left ?? lifetime)
        let leeway = min(policy.leeway, lifetime / 10)
        let ahead = max(min(policy.ahead, lifetime / 4), leeway)
        let delay = bundle.refreshDelay(within: ahead - leeway)
        self.init(aheadFrom: end - ahead + delay, leewayFrom: end - leeway, end: end)
    }
}

extension MachineClock {
    /// When an access token from the store expires, on the server's clock as far as that is known (G19). `sighting`:
    /// when the store held the tokens before it, which refutes a date of another device's clock. A date of the server's
    /// own clock needs no such check.
    func expiry(ofStored bundle: TokenBundle, after sighting: StoreSighting? = nil) -> Expiry {
        guard let expiresAt = bundle.expiresAt, expiresAt.isPlausible else {
            return Expiry(of: bundle, lifetime: nil, at: uptime, policy: policy)
        }
        let skew = bundle.isDatedByDevice ? 0 : serverClock.skew(at: now) ?? bundle.clockSkew
        let serverNow = now.date + skew
        let limit = policy.maximumLifetime / .seconds(1)
        let shown = expiresAt.timeIntervalSince(serverNow.isPlausible ? serverNow : now.date)
        var left = Duration.seconds(min(max(shown, -limit), limit))
        if let sighting, !(serverClock.isKnown && bundle.isDatedByServer) {
            left = sighting.timeLeft(of: bundle, shown: left, at: uptime) ?? left
        }
        let lifetime = min(bundle.lifetime ?? max(left, .zero), policy.maximumLifetime)
        // A token has at most its lifetime left, even if the clock was set back.
        left = min(left, max(lifetime, .zero))
        return Expiry(of: bundle, lifetime: lifetime, left: left, at: uptime, policy: policy)
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
