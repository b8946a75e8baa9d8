import AuthInterface

/// The highest place in the order of sign-ins that a follower has seen (G29). It holds no token.
///
/// The order is that of the ordinals, of one session that of the generations, and an end comes last. No clock counts,
/// except in what an earlier version of the owner has stored, which has no ordinal.
struct FollowedMark: Sendable {
    private var session: SessionID?
    private var ordinal = SessionOrdinal.unknown
    private var generation = 0
    /// The end of the session. `nil`: it goes on.
    private(set) var end: SessionTombstone?

    /// Whether a bundle that is handed in comes after what was seen. Of two sessions with one ordinal the first one
    /// stays. Where no ordinal is known yet there is no order.
    func admits(_ bundle: TokenBundle, after current: TokenBundle?) -> Bool {
        guard bundle.session == session else { return bundle.ordinal > ordinal || ordinal == .unknown }
        // A session that was lost goes on where its tokens are there again.
        if let end { return end.reason == .lost() && bundle.generation >= generation }
        return current.map(bundle.displaces) ?? true
    }

    /// Whether an end that is handed in counts: it ends what was seen, or comes after the end of it.
    func admits(_ tombstone: SessionTombstone) -> Bool {
        let reach = reach(of: tombstone)
        if let end, end.reason != .lost() { return reach > ordinal }
        return tombstone.session == session || reach >= ordinal
    }

    /// Up to which ordinal sessions end. That of another session, which an earlier version has ended, says its instant.
    private func reach(of tombstone: SessionTombstone) -> SessionOrdinal {
        let isKnown = tombstone.ordinal != .unknown || tombstone.session == session
        return isKnown ? tombstone.ordinal : SessionOrdinal(at: tombstone.date)
    }

    /// The bundle is in use. An earlier version drops the ordinal of a session when it refreshes.
    mutating func record(_ bundle: TokenBundle) {
        (session, generation, end) = (bundle.session, bundle.generation, nil)
        ordinal = max(ordinal, bundle.ordinal)
    }

    mutating func record(_ tombstone: SessionTombstone) {
        ordinal = max(ordinal, reach(of: tombstone))
        if tombstone.session != session { generation = 0 }
        (session, end) = (tombstone.session, tombstone)
    }
}
