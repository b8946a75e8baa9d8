import AuthInterface
import Foundation

/// The content for the store.
indirect enum StoreContent: Hashable, Sendable {
    /// A bundle, and the stored content that it may replace.
    case bundle(TokenBundle, over: Predecessor)

    /// A tombstone, in place of the bundles of some sessions.
    case tombstone(SignOutReason, at: Date, of: EndScope)

    /// The stored content that a bundle may replace. In a store that is not shared it replaces everything.
    enum Predecessor: Hashable, Sendable {
        /// Any other session, where the clock was set since the sign-in. A newer bundle or the tombstone of this
        /// session stays: a write that failed may have stored the session. `replacing`: the sessions that the user has
        /// left with this sign-in.
        case anything(replacing: Set<SessionID>)
        /// As `anything`, but for a session that is known to have begun after this one: a sign-in replaces every
        /// session that was asked for before it, and so do its refreshed tokens until one of the two is stored. `nil`:
        /// it is not known when this one began. The sessions that the user has left did not begin after it: the date of
        /// one may be that of a clock which was set back since.
        case begunBefore(Date?, replacing: Set<SessionID>)
        /// An older bundle of the same session (rule 3), or the same tokens without an intent of another process. A
        /// tombstone, another session and an equal or higher generation stay. An empty or corrupt store has lost the
        /// session, and is written again.
        case older
        /// Exactly this bundle, including its intent: an intent replaces what was read under the lease.
        case exactly(TokenBundle)

        var mayBeAnotherSession: Bool {
            switch self {
            case .anything, .begunBefore: true
            case .older, .exactly: false
            }
        }
    }
}

/// The sessions whose tokens are removed when a session ends.
enum EndScope: Hashable, Sendable {
    /// The session itself, and the sessions that it was to replace in the store: itself, where the store had not been
    /// read. Any other session in the store is a sign-in of another process, which stays.
    case sessions(SessionID, replacing: Set<SessionID>)
    /// The session whose refresh token the server has rejected, with these tokens, and the sessions that it was to
    /// replace. Newer tokens of the session are those of another process, which were not rejected: they stay.
    case rejected(TokenBundle, replacing: Set<SessionID>)
    /// Content that was never read, or cannot be read. Tokens in a shared store are a sign-in of another process, which
    /// stays.
    case unread

    /// The session that ended, where it is known.
    var session: SessionID? {
        switch self {
        case .sessions(let session, _): session
        case .rejected(let bundle, _): bundle.session
        case .unread: nil
        }
    }

    /// All known sessions whose tokens are removed.
    var sessions: Set<SessionID> {
        switch self {
        case .sessions(let own, let replaced): replaced.union([own])
        case .rejected(let bundle, let replaced): replaced.union([bundle.session])
        case .unread: []
        }
    }

    /// The scope of a session that is signed in over this one.
    func followed(by session: SessionID) -> EndScope { .sessions(session, replacing: sessions) }

    /// The replacement of the stored content; `nil` leaves it.
    fileprivate func replacement(for found: StoredSession?, _ reason: SignOutReason, _ date: Date) -> StoredSession? {
        if case (.rejected(let rejected, _), .active(let stored)?) = (self, found), stored.displaces(rejected) {
            return nil
        }
        switch found {
        case .active(let bundle) where sessions.contains(bundle.session):
            return .tombstone(SessionTombstone(session: session ?? bundle.session, reason: reason, date: date))
        case .active, .tombstone:
            return nil
        case .empty, nil:
            return session.map { .tombstone(SessionTombstone(session: $0, reason: reason, date: date)) } ?? .empty
        }
    }
}

extension StoreContent {
    /// The outcome of a write that left the stored content unchanged. A sign-out that finds nothing to remove counts as
    /// successful. One that finds another session must revoke its tokens beside it.
    func outcome(leaving found: StoredSession) -> WriteOutcome {
        switch (self, found) {
        case (.bundle, _), (.tombstone(_, _, of: .rejected), _): .superseded(by: found)
        case (.tombstone, .active): .superseded(by: found)
        case (.tombstone, _): .written(replaced: nil)
        }
    }

    /// The tokens that the server has rejected, and why their session ends.
    var rejection: (bundle: TokenBundle, reason: SignOutReason)? {
        if case .tombstone(let reason, _, .rejected(let bundle, _)) = self { (bundle, reason) } else { nil }
    }

    /// Whether the write may remove tokens that this process has not read: a sign-in, and the end of one that is not
    /// stored, or of a session that was not read. An end of the session that the store holds reads nothing: a store may
    /// ask the user before it shows its tokens.
    var mayRemoveUnread: Bool {
        switch self {
        case .bundle(_, let predecessor): predecessor.mayBeAnotherSession
        case .tombstone(_, _, .unread): true
        case .tombstone(_, _, .sessions(_, let replaced)), .tombstone(_, _, .rejected(_, let replaced)):
            !replaced.isEmpty
        }
    }

    /// The session that is stored, or that has ended. `nil`: it is not known.
    var session: SessionID? {
        switch self {
        case .bundle(let bundle, _): bundle.session
        case .tombstone(_, _, let scope): scope.session
        }
    }

    /// The bundle to store.
    var bundle: TokenBundle? {
        if case .bundle(let bundle, _) = self { bundle } else { nil }
    }

    /// The replacement of the content of a shared store; `nil` leaves what another process has stored. A failure means
    /// that the content cannot be read. `date`: now, when the store has found it, however late that is.
    func replacement(for found: Result<StoredSession, TokenStoreError>, at date: Date) -> StoredSession? {
        let found = try? found.get().readable
        switch self {
        case .tombstone(let reason, let end, let scope): return scope.replacement(for: found, reason, end)
        case .bundle(let bundle, over: .anything) where found?.session != bundle.session: return .active(bundle)
        case .bundle(let bundle, over: .begunBefore(let begun, let left)) where found?.session != bundle.session:
            let isLater = found?.bundle.map { !left.contains($0.session) && $0.hasBegun(after: begun, foundAt: date) }
            return isLater ?? false ? nil : .active(bundle)
        case .bundle(let bundle, over: .anything), .bundle(let bundle, over: .begunBefore),
            .bundle(let bundle, over: .older):
            return bundle.mayFollow(found) ? .active(bundle) : nil
        case .bundle(let bundle, over: .exactly(let read)):
            switch found {
            case .active(let stored): return stored == read ? .active(bundle) : nil
            case .tombstone: return nil
            case .empty, nil: return .active(bundle)
            }
        }
    }
}

extension StoredSession {
    /// The session whose tokens, or whose end, are stored.
    fileprivate var session: SessionID? {
        switch self {
        case .active(let bundle): bundle.session
        case .tombstone(let tombstone): tombstone.session
        case .empty: nil
        }
    }

    /// The content; `nil` for a bundle without a usable token, which counts as unreadable.
    var readable: StoredSession? {
        if case .active(let bundle) = self, !bundle.isUsable { nil } else { self }
    }
}

extension TokenBundle {
    /// Whether the bundle of a refresh may be written over what is found (rule 3).
    fileprivate func mayFollow(_ found: StoredSession?) -> Bool {
        switch found {
        case .active(let stored): supersedes(stored) || (hasSameTokens(as: stored) && keepsIntent(of: stored))
        case .tombstone: false
        case .empty, nil: true
        }
    }

    /// Whether writing the same tokens again removes no intent of another process, which may be calling.
    private func keepsIntent(of stored: TokenBundle) -> Bool {
        stored.refreshIntent.map { $0.owner == refreshIntent?.owner } ?? true
    }
}

extension TokenBundle {
    /// Whether a stored bundle of another process replaces the bundle of this process.
    ///
    /// Two processes can produce the same generation: one could not save it, and the other started from the saved one.
    /// The stored one is used, because every process can read it.
    func displaces(_ other: TokenBundle) -> Bool {
        supersedes(other)
            || (session == other.session && generation == other.generation
                && accessToken != other.accessToken)
    }
}

extension TokenStoreError {
    /// Whether the store can be read, and its content cannot.
    var isLasting: Bool { [.corrupt, .insecure, .unsupportedVersion].contains(code) }
}

extension TokenBundle {
    /// When the call that brought the access token was sent, on the device's clock. `nil`: not known.
    var sentAt: Date? {
        guard let receivedAt, receivedAt.isPlausible, clockSkew.isFinite else { return nil }
        return receivedAt - clockSkew
    }

    /// The time since the access token came, by the device's clock. `nil`: not known, or the clock was set back.
    func age(at date: Date) -> Duration? {
        guard let sentAt else { return nil }
        let seconds = date.timeIntervalSince(sentAt)
        return (0..<1e9).contains(seconds) ? .seconds(seconds) : nil
    }

    /// When the session was signed in, on the device's clock. A bundle of an older version says it until its first
    /// refresh, if its token has a known lifetime. `nil`: not known.
    var begunAt: Date? {
        if let signedInAt, signedInAt.isPlausible { return signedInAt }
        return generation == 0 ? sentAt : nil
    }

    /// Whether the session is known to have begun after an instant of the device's clock.
    func hasBegun(after date: Date?, foundAt now: Date) -> Bool {
        guard let date, let begunAt else { return false }
        return begunAt.isKnownToFollow(date, foundAt: now)
    }
}

extension Date {
    /// Whether it is known to be later than another instant of the device's clock. One that is later than it is found
    /// is of another clock, or this one was set back since: then it is not known.
    func isKnownToFollow(_ date: Date, foundAt now: Date) -> Bool { self > date && self <= now }
}

extension StoredSession {
    /// The content that counts when a process starts: a tombstone that is too old counts as empty. A process that is in
    /// the session follows it at any age.
    func current(at date: Date) -> StoredSession {
        guard case .tombstone(let tombstone) = self else { return self }
        return date.timeIntervalSince(tombstone.date) > SessionTombstone.lifetime / .seconds(1) ? .empty : self
    }
}
