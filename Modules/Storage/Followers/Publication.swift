import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// What followers may read of an owner's decisions, and until when: no refresh token, no intent, and no access token
/// that has expired.
struct Publication: Sendable {
    let content: StoredSession
    /// The content, where it is an end that the owner's store has not taken. `nil`: the store holds it.
    private var ending: SessionTombstone?
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

    /// Of an end that the owner's store has not taken.
    init(of ending: SessionTombstone) { (content, end, self.ending) = (.tombstone(ending), nil, ending) }

    /// What replaces the content of the place, which is `nil` where it cannot be read. `nil`: it stays.
    ///
    /// What the store says replaces other tokens, also those of a later sign-in, which the store does not hold. An end
    /// in the place stays until something comes after it. An expired token is not put back: the clocks of two owners
    /// differ.
    func replacement(for found: StoredSession?) -> StoredSession? {
        if content == found { return nil }
        switch found {
        case .tombstone(let earlier)?:
            return ending.map(earlier.isReplaced) ?? earlier.isOutranked(by: content) ? content : nil
        case .active(let bundle)?:
            if bundle == content.bundle?.withoutTokens { return nil }
            return ending?.ends(bundle) ?? true ? content : nil
        case .empty?, nil: return content
        }
    }
}

extension SessionTombstone {
    /// Whether the session of a bundle has ended with it. The end of an earlier version is that of its own session.
    fileprivate func ends(_ bundle: TokenBundle) -> Bool {
        bundle.session == session || (ordinal != .unknown && bundle.ordinal <= ordinal)
    }

    /// Whether another end that no store holds takes its place. Of two that reach equally far the first one stays.
    func isReplaced(by other: SessionTombstone) -> Bool {
        isOutranked(by: .tombstone(other)) && !other.isOutranked(by: .tombstone(self))
    }

    /// Whether what the store holds comes after it. A session that was lost goes on where its tokens are there again.
    func isOutranked(by content: StoredSession) -> Bool {
        let isLost = reason == .lost()
        return switch content {
        case .empty: false
        case .active(let bundle): isLost || !ends(bundle)
        case .tombstone(let other) where other.reason == .lost(): other.ordinal > ordinal
        case .tombstone(let other): isLost || other.ordinal >= ordinal
        }
    }
}

/// When an access token expires, on the monotonic clock of the process that has seen it.
struct KnownExpiry: Sendable {
    private let bundle: TokenBundle
    let end: Duration

    /// `nil`: the bundle has no expiry, or one that is no date.
    ///
    /// A token of known lifetime counts for that time from when it is first seen. Its dates are those of the device
    /// that received it, whose clock may be hours from this one's (G29); followers judge them by the server's clock.
    init?(_ bundle: TokenBundle, _ clock: any TimeSource) {
        // The expiry is on the server's clock, the skew that of the device which received the token.
        let dated = bundle.expiresAt.map { $0.timeIntervalSince(clock.date) - bundle.clockSkew }
        guard let left = bundle.lifetime ?? dated.flatMap({ abs($0) < 1e10 ? .seconds($0) : nil }) else { return nil }
        self.bundle = bundle.withoutRefreshToken
        end = clock.uptime + left
    }

    func isOf(_ other: TokenBundle) -> Bool { other.withoutRefreshToken.hasSameTokens(as: bundle) }
}
