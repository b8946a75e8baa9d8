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
        token.handout = .init(isFollowed: true)
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
/// generation. An instant that is not known, or that the clock has not reached, gives no order: then what comes later
/// is newer.
struct FollowedHistory: Sendable {
    /// The number of endings that are remembered, the newest ones.
    static let limit = 64

    private(set) var last: TokenBundle?
    private var endings: [SessionID] = []

    /// The bundle is the one in use.
    mutating func record(_ bundle: TokenBundle) { last = bundle.withoutTokens }

    /// A session has ended. One that was moved out of its store may return to it.
    mutating func recordEnding(_ tombstone: SessionTombstone) {
        if tombstone.reason != .moved { recordEnding(of: tombstone.session) }
    }

    /// A session has ended, or the end of the one that replaced it was seen.
    mutating func recordEnding(of session: SessionID) {
        guard !endings.contains(session) else { return }
        endings.append(session)
        if endings.count > Self.limit { endings.removeFirst() }
    }

    /// Whether a bundle comes after what was seen.
    ///
    /// - Parameters:
    ///   - bundle: The bundle.
    ///   - current: The tokens in use. `nil`: no session is followed.
    ///   - date: Now.
    /// - Returns: Whether the follower uses it.
    func admits(_ bundle: TokenBundle, after current: FollowedTokens?, at date: Date) -> Bool {
        guard !endings.contains(bundle.session) else { return false }
        guard let last else { return true }
        guard bundle.session == last.session else { return !last.hasBegun(after: bundle.begunAt, foundAt: date) }
        guard let current else { return bundle.generation >= last.generation }
        return bundle.displaces(current.bundle)
    }

    /// Whether the end of another session is that of a session which has replaced the one in use.
    func isReplaced(bySessionOf tombstone: SessionTombstone, at date: Date) -> Bool {
        last.map { !$0.hasBegun(after: tombstone.date, foundAt: date) } ?? true
    }
}
