import AuthInterface
import Foundation

/// The session the machine is in, and what is going on in it.
struct Session: Sendable {
    /// Where the current access token came from.
    enum Origin: Sendable, Equatable {
        case signIn
        case store
        case refresh(at: Duration)
    }

    /// A pause after failed refreshes.
    struct Cooldown: Sendable {
        let until: Duration
        let error: TokenRefreshError
        let failures: Int
    }

    /// A token that was refused while just refreshed, and until when no refresh goes out for it.
    struct Refusal: Sendable {
        let generation: Int
        let until: Duration
        let trips: Int
    }

    var bundle: TokenBundle
    var origin: Origin
    var expiry: Expiry

    /// The refresh under way.
    var attempt: Attempt?

    /// Refreshes that have missed their deadline, and may yet be answered.
    var overdue: [AttemptID: TokenBundle] = [:]

    var cooldown: Cooldown?
    var refusal: Refusal?

    /// Whether the store is known to have held a bundle of this session.
    var isStored: Bool

    /// The write that a login waits for. Until it is done no request uses the new tokens.
    var activation: Int?

    init(_ bundle: TokenBundle, origin: Origin, expiry: Expiry, isStored: Bool) {
        self.bundle = bundle
        self.origin = origin
        self.expiry = expiry
        self.isStored = isStored
    }
}

/// Why somebody waits: a request that has no token yet may be given one that is still valid should the refresh fail; a
/// request that was refused may not be given the same again.
enum Waiting: Sendable {
    case asked
    case refused(SessionToken)
}

/// One refresh, from the first request that needs it to the last waiter told.
struct Attempt: Sendable {
    enum Stage: Sendable {
        /// Another process may hold the shared store.
        case leasing
        /// Another process may have refreshed already.
        case rereading
        /// The handler is at work.
        case calling
        /// The server has said no; another process may know better.
        case verifying
        /// The new tokens are on their way to the store.
        case storing(TokenBundle, Expiry, version: Int)
    }

    let id: AttemptID
    var base: TokenBundle
    var stage: Stage
}

/// When an access token is too old to use, on the clock nobody can set.
struct Expiry: Sendable {
    /// From here on the token is refreshed in the background. `nil`: never.
    let aheadFrom: Duration?
    /// From here on requests wait for the refresh.
    let leewayFrom: Duration?
    /// From here on the token is not sent.
    let end: Duration?

    /// A token nothing is known about: good until it is refused.
    static let unknown = Expiry(aheadFrom: nil, leewayFrom: nil, end: nil)

    private init(aheadFrom: Duration?, leewayFrom: Duration?, end: Duration?) {
        self.aheadFrom = aheadFrom
        self.leewayFrom = leewayFrom
        self.end = end
    }

    /// The expiry of a token received now. Both windows shrink with a short lifetime: a token that lives for a minute
    /// would otherwise be refreshed from its first second.
    init(receivedAt uptime: Duration, lifetime: Duration?, policy: TokenRefreshPolicy) {
        guard let lifetime else {
            self = .unknown
            return
        }
        self.init(
            aheadFrom: uptime + lifetime - min(policy.ahead, lifetime / 4),
            leewayFrom: uptime + lifetime - min(policy.leeway, lifetime / 10),
            end: uptime + lifetime
        )
    }

    /// The expiry of a token that was stored with a wall-clock expiry, as far as the clocks can be trusted (G19): `skew`
    /// is how far the server's clock is ahead of the device's now.
    init(restored bundle: TokenBundle, at now: Instant, skew: TimeInterval, policy: TokenRefreshPolicy) {
        guard bundle.accessToken.isHeaderSafe else {
            self.init(aheadFrom: .zero, leewayFrom: .zero, end: .zero)
            return
        }
        guard let expiresAt = bundle.expiresAt, expiresAt.isPlausible else {
            self = .unknown
            return
        }
        let limit = policy.maximumLifetime / .seconds(1)
        let serverNow = now.date + skew
        let left = expiresAt.timeIntervalSince(serverNow.isPlausible ? serverNow : now.date)
        let end = now.uptime + .seconds(min(max(left, -limit), limit))
        self.init(aheadFrom: end - policy.ahead, leewayFrom: end - policy.leeway, end: end)
    }

    enum Urgency { case none, ahead, due, expired }

    func urgency(at uptime: Duration) -> Urgency {
        if let end, uptime >= end { return .expired }
        if let leewayFrom, uptime >= leewayFrom { return .due }
        if let aheadFrom, uptime >= aheadFrom { return .ahead }
        return .none
    }
}
