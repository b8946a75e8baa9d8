import AuthInterface
import Foundation

/// The content for the store: what begins, what ends, and up to which ordinal.
indirect enum StoreContent: Hashable, Sendable {
    /// A bundle, and the stored content that it may replace.
    case bundle(TokenBundle, over: Predecessor)

    /// A tombstone, in place of the bundles of some sessions.
    case tombstone(SignOutReason, at: Date, of: EndScope)

    /// The stored content that a bundle may replace. In a store that is not shared it replaces everything.
    enum Predecessor: Hashable, Sendable {
        /// A session that begins, until the store is known to hold it: whatever has a lower ordinal. Of its own
        /// session, a newer bundle and the tombstone stay: a write that failed may have stored the session. `ends`: up
        /// to which ordinal it ends others, also where the store cannot take it yet. `nil`: there are none.
        case lower(ends: SessionOrdinal?)
        /// An older bundle of the same session (rule 3), or the same tokens without an intent of another process. A
        /// tombstone, another session and an equal or higher generation stay. An empty or corrupt store has lost the
        /// session, and is written again.
        case older
        /// Exactly this bundle, including its intent: an intent replaces what was read under the lease.
        case exactly(TokenBundle)

        var mayBeAnotherSession: Bool { if case .lower = self { true } else { false } }
    }
}

/// The sessions whose tokens are removed when a session ends. A later sign-in of another process stays.
enum EndScope: Hashable, Sendable {
    /// A session that the store holds, and every one up to an ordinal.
    case session(SessionID, upTo: SessionOrdinal)
    /// Every session up to an ordinal, where the store was not read, holds none, or has not taken the one that ends.
    case unread(upTo: SessionOrdinal)
    /// The session whose refresh token the server has rejected, with these tokens, and the sessions up to the ordinal
    /// that it was to replace. Newer tokens of the session are those of another process, which were not rejected: they
    /// stay.
    case rejected(TokenBundle, replacing: SessionOrdinal?)

    var session: SessionID? {
        switch self {
        case .session(let session, _): session
        case .unread: nil
        case .rejected(let bundle, _): bundle.session
        }
    }

    var ordinal: SessionOrdinal {
        switch self {
        case .session(_, let ordinal), .unread(let ordinal): ordinal
        case .rejected(let bundle, let replaced): max(bundle.ordinal, replaced ?? .unknown)
        }
    }

    /// Whether tokens that are found end.
    private func ends(_ found: TokenBundle) -> Bool {
        switch self {
        case .session(let session, let ordinal): found.session == session || found.ordinal <= ordinal
        case .unread(let ordinal): found.ordinal <= ordinal
        case .rejected(let rejected, let replaced):
            found.session == rejected.session
                ? !found.displaces(rejected) : replaced.map { found.ordinal <= $0 } ?? false
        }
    }

    /// The replacement of the stored content; `nil` leaves it.
    fileprivate func replacement(for found: StoredSession?, _ reason: SignOutReason, _ date: Date) -> StoredSession? {
        let end = SessionTombstone(
            session: session ?? found?.bundle?.session ?? SessionID(rawValue: ""), reason: reason, date: date,
            upTo: max(ordinal, found?.bundle?.session == session ? found?.ordinal ?? .unknown : .unknown))
        switch (self, found) {
        case (_, .active(let bundle)?): return ends(bundle) ? .tombstone(end) : nil
        case (.rejected, .tombstone?): return nil
        case (_, .tombstone(let earlier)?):
            guard earlier.ordinal < end.ordinal else { return nil }
            // An ending has one reason in every process.
            guard session == nil || earlier.session == session else { return .tombstone(end) }
            return .tombstone(
                SessionTombstone(
                    session: earlier.session, reason: earlier.reason, date: earlier.date, upTo: end.ordinal))
        case (_, .empty?), (_, nil): return .tombstone(end)
        }
    }
}

extension StoreContent {
    /// The outcome of a write that left the stored content. A sign-out that finds nothing to remove is successful. One
    /// that finds another session must revoke its tokens beside it.
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
        case .tombstone(_, _, .session): false
        case .tombstone(_, _, .rejected(_, let replaced)): replaced != nil
        }
    }

    /// The session that is stored, or that has ended. `nil`: it is not known.
    var session: SessionID? {
        switch self {
        case .bundle(let bundle, _): bundle.session
        case .tombstone(_, _, let scope): scope.session
        }
    }

    var bundle: TokenBundle? { if case .bundle(let bundle, _) = self { bundle } else { nil } }

    /// The replacement of the content of a shared store; `nil` leaves it. A failure: it cannot be read.
    func replacement(for found: StoreResult) -> StoredSession? {
        let found = try? found.get()
        switch self {
        case .tombstone(let reason, let date, let scope): return scope.replacement(for: found, reason, date)
        case .bundle(let bundle, over: .lower) where found?.session != bundle.session:
            // The last ordinal locks no user out.
            return found?.ordinal.map { $0 < bundle.ordinal || $0 == .last } ?? true ? .active(bundle) : nil
        case .bundle(let bundle, over: .lower), .bundle(let bundle, over: .older):
            return bundle.mayFollow(found) ? .active(bundle) : nil
        case .bundle(let bundle, over: .exactly(let read)):
            switch found {
            // An earlier version drops the ordinal when it refreshes.
            case .active(let stored):
                return stored.with(ordinal: .unknown) == read.with(ordinal: .unknown) ? .active(bundle) : nil
            case .tombstone: return nil
            case .empty, nil: return .active(bundle)
            }
        }
    }
}

extension TokenBundle {
    /// Its end, which the store does not hold yet.
    func ended(_ reason: SignOutReason, at date: Date) -> SessionTombstone {
        SessionTombstone(session: session, reason: reason, date: date, upTo: ordinal)
    }

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

    /// Whether a stored bundle of another process replaces that of this one. Two processes can produce the same
    /// generation where one could not save it: the stored one is used, because every process can read it.
    func displaces(_ other: TokenBundle) -> Bool {
        supersedes(other)
            || (session == other.session && generation == other.generation
                && accessToken != other.accessToken)
    }

    /// The time since the call that brought the access token. `nil`: not known, or the device's clock was set back.
    func age(at date: Date) -> Duration? {
        guard let receivedAt, receivedAt.isPlausible, clockSkew.isFinite else { return nil }
        let seconds = date.timeIntervalSince(receivedAt - clockSkew)
        return (0..<1e9).contains(seconds) ? .seconds(seconds) : nil
    }
}

extension StoredSession {
    /// The content that counts when a process starts: without a tombstone that is too old.
    func current(at date: Date) -> StoredSession {
        guard case .tombstone(let tombstone) = self else { return self }
        return date.timeIntervalSince(tombstone.date) > SessionTombstone.lifetime / .seconds(1) ? .empty : self
    }

    /// The place of the content in the order of sign-ins.
    var ordinal: SessionOrdinal? { bundle?.ordinal ?? tombstone?.ordinal }

    /// The session whose tokens, or whose end, are stored.
    fileprivate var session: SessionID? { bundle?.session ?? tombstone?.session }

    private var tombstone: SessionTombstone? { if case .tombstone(let tombstone) = self { tombstone } else { nil } }
}
