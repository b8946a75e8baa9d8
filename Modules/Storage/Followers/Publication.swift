import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// What followers may read of an owner's store, and until when: no refresh token, no intent, and no access token that
/// has expired.
struct Publication: Sendable {
    let content: StoredSession
    /// When the access token in it expires, on the monotonic clock. `nil`: there is none, or its expiry is not known.
    let end: Duration?

    /// `known`: when the tokens of this process's last publication expire. A clock that is set changes nothing there.
    init(of stored: StoredSession, after known: KnownExpiry?, _ clock: any TimeSource) {
        guard case .active(let bundle) = stored.withoutRefreshToken else {
            (content, end) = (stored, nil)
            return
        }
        let expiry = known?.isOf(bundle) == true ? known : KnownExpiry(bundle, clock)
        let isExpired = expiry.map { $0.end <= clock.uptime } ?? false
        content = .active(isExpired ? bundle.withoutTokens : bundle)
        end = isExpired ? nil : expiry?.end
    }

    /// What replaces the published content. `nil`: it stays.
    ///
    /// A process that has read the owner's store before another one may publish after it: the end of a session and a
    /// higher generation stay.
    func replacement(for found: StoredSession) -> StoredSession? {
        switch (content, found) {
        case (.empty, .tombstone): nil
        case (.active(let bundle), .tombstone(let ended))
        where ended.session == bundle.session: nil
        case (.active(let bundle), .active(let stored))
        where stored.session == bundle.session && stored.generation > bundle.generation: nil
        default: content == found ? nil : content
        }
    }
}

/// When an access token expires, on the monotonic clock of the process that has seen it.
struct KnownExpiry: Sendable {
    let session: SessionID
    let generation: Int
    let accessToken: String
    let end: Duration

    /// `nil`: the bundle has no expiry, or one that is no date.
    init?(_ bundle: TokenBundle, _ clock: any TimeSource) {
        guard let expiresAt = bundle.expiresAt else { return nil }
        // The expiry is on the server's clock, the skew that of the device which received the token.
        let left = expiresAt.timeIntervalSince(clock.date) - bundle.clockSkew
        guard left.isFinite, abs(left) < 1e10 else { return nil }
        (session, generation, accessToken) = (bundle.session, bundle.generation, bundle.accessToken)
        end = clock.uptime + min(.seconds(left), bundle.lifetime ?? .seconds(left))
    }

    func isOf(_ bundle: TokenBundle) -> Bool {
        bundle.session == session && bundle.generation == generation && bundle.accessToken == accessToken
    }
}
