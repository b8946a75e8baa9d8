import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The tokens that a follower uses: those of the owner's newest bundle, without the refresh token.
struct FollowedTokens: Sendable {
    let bundle: TokenBundle
    let token: SessionToken
    private(set) var expiry: Expiry

    init(_ bundle: TokenBundle, _ moment: Moment) {
        self.bundle = bundle.withoutRefreshToken
        var token = self.bundle.token
        token.issuance = .init(isFollowed: true)
        self.token = token
        expiry = moment.expiry(ofStored: bundle)
    }

    var session: SessionID { bundle.session }

    /// The token, if it is young enough to send.
    func readyToken(at uptime: Duration) -> SessionToken? {
        let urgency = expiry.urgency(at: uptime)
        return urgency == .none || urgency == .ahead ? token : nil
    }

    /// The server's clock is known now.
    mutating func serverClockKnown(_ moment: Moment) { expiry = moment.expiry(ofStored: bundle) }
}

/// Which session a follower has seen last, and which ones it has seen end. It holds no token.
///
/// The order of bundles (G29): the instant of the sign-in first, which the owner has recorded in the bundle, then the
/// generation. An instant that is not known, or that the clock had not reached when it was seen or that it was set back
/// behind since, gives no order: then what comes later is newer.
struct FollowedHistory: Sendable {
    /// The number of endings that are remembered, the newest ones.
    static let limit = 64

    /// By how much a clock may have gone more slowly than another one before it counts as set back.
    private static let clockTolerance: Duration = .seconds(30)

    /// By how much the owner's clock may be ahead of this one, in seconds, before it counts as set.
    private static let longestSkew: TimeInterval = 24 * 60 * 60

    private(set) var last: TokenBundle?
    /// When the last session was seen first.
    private var firstSeen: Instant?
    private var endings: [SessionID] = []

    /// The bundle is the one in use.
    mutating func record(_ bundle: TokenBundle, at now: Instant) {
        if last?.session != bundle.session { firstSeen = now }
        last = bundle.withoutTokens
    }

    /// A session has ended, or the end of the one that replaced it was seen.
    mutating func recordEnding(of session: SessionID) {
        guard !endings.contains(session) else { return }
        endings.append(session)
        if endings.count > Self.limit { endings.removeFirst() }
    }

    /// Whether the follower uses a bundle: it comes after what was seen, and after the tokens in use.
    func admits(_ bundle: TokenBundle, after current: FollowedTokens?, at now: Instant) -> Bool {
        guard !hasEnded(bundle.session) else { return false }
        guard let last else { return true }
        guard bundle.session == last.session else {
            return !hasOrder(at: now) || !last.hasBegun(after: bundle.begunAt, foundAt: now.date)
        }
        guard let current else { return bundle.generation >= last.generation }
        return bundle.displaces(current.bundle)
    }

    /// Whether the instant of the last sign-in says what came after it: no clock was ahead then.
    private func hasOrder(at now: Instant) -> Bool {
        guard let begun = last?.begunAt, let firstSeen, begun <= firstSeen.date else { return false }
        let shown = now.date.timeIntervalSince(firstSeen.date)
        return shown >= (now.uptime - firstSeen.uptime - Self.clockTolerance) / .seconds(1)
    }

    /// Whether the end of another session is that of a session which has replaced the one in use. Both instants are
    /// those of the owner's clock. `nil`: it is not known, as that clock was set since, or no instant was recorded.
    func isReplaced(bySessionOf tombstone: SessionTombstone, at date: Date) -> Bool? {
        guard let begun = last?.begunAt, begun <= date.addingTimeInterval(Self.longestSkew) else { return nil }
        return begun <= tombstone.date
    }

    /// Whether the end of a session was seen, or that of the one that replaced it.
    func hasEnded(_ session: SessionID) -> Bool { endings.contains(session) }
}
