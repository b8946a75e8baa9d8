import AuthInterface
import Foundation

/// What the store should hold.
enum StoreContent: Hashable, Sendable {
    /// A bundle, and what it may be written over.
    case bundle(TokenBundle, over: Predecessor)

    /// The note that a session has ended, in place of the bundles of some sessions.
    case ended(SignOutReason, at: Date, of: EndScope)

    /// What a bundle may be written over. A store that is not shared holds nothing else, and is not asked.
    enum Predecessor: Hashable, Sendable {
        /// Any other session: a sign-in replaces everything, and so does what a refresh makes of it until one of the two
        /// is stored. What another process has made of this session stays: a write that has failed may have stored it.
        case anything
        /// An older bundle of the same session (rule 3), or the same tokens without a record of a call. The note of an
        /// ended session, another session and a generation as new or newer stay. An empty or corrupt store has lost the
        /// session, and gets it back.
        case older
        /// This bundle to the letter, its record of a pending refresh included: an intent is recorded over what was
        /// read under the lease.
        case exactly(TokenBundle)
    }
}

/// Whose tokens the end of a session removes.
enum EndScope: Hashable, Sendable {
    /// The session's own, and those of the sessions that it was to replace in the store. Any other in the store is a
    /// sign-in of another process, which stays.
    case sessions(SessionID, replacing: Set<SessionID>)
    /// What a store holds that was never read, or cannot be read. Tokens that turn up in a shared store are a sign-in of
    /// another process, which stays.
    case unread

    /// The session that ended, where it is known.
    var session: SessionID? {
        if case .sessions(let session, _) = self { session } else { nil }
    }

    /// All sessions whose tokens are removed, as far as they are known.
    var sessions: Set<SessionID> {
        if case .sessions(let own, let replaced) = self { replaced.union([own]) } else { [] }
    }

    /// The scope of a session that is signed in over this one.
    func followed(by session: SessionID) -> EndScope { .sessions(session, replacing: sessions) }

    /// What takes the place of what is found; `nil` leaves it.
    fileprivate func replacement(for found: StoredSession?, _ reason: SignOutReason, _ date: Date) -> StoredSession? {
        switch found {
        case .active(let bundle) where sessions.contains(bundle.session):
            return .ended(EndedSession(session: session ?? bundle.session, reason: reason, date: date))
        case .active, .ended:
            return nil
        case .empty, nil:
            return session.map { .ended(EndedSession(session: $0, reason: reason, date: date)) } ?? .empty
        }
    }
}

extension StoreContent {
    /// The bundle that the store should hold.
    var bundle: TokenBundle? {
        if case .bundle(let bundle, _) = self { bundle } else { nil }
    }

    /// What to store in a shared store in place of what was found there; `nil` leaves it, so that nothing that another
    /// process has put there is lost. The store gives no session when what is there cannot be read.
    func replacement(for found: Result<StoredSession, TokenStoreError>) -> StoredSession? {
        let found = try? found.get().readable
        switch self {
        case .ended(let reason, let date, let scope): return scope.replacement(for: found, reason, date)
        case .bundle(let bundle, over: .anything) where found?.session != bundle.session: return .active(bundle)
        case .bundle(let bundle, over: .anything): return bundle.mayFollow(found) ? .active(bundle) : nil
        case .bundle(let bundle, over: .older): return bundle.mayFollow(found) ? .active(bundle) : nil
        case .bundle(let bundle, over: .exactly(let read)):
            switch found {
            case .active(let stored): return stored == read ? .active(bundle) : nil
            case .ended: return nil
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
        case .ended(let ended): ended.session
        case .empty: nil
        }
    }

    /// The content as far as it can be worked with: a bundle without a usable token counts as unreadable (`nil`).
    var readable: StoredSession? {
        if case .active(let bundle) = self, !bundle.isUsable { nil } else { self }
    }
}

extension TokenBundle {
    /// Whether the bundle of a refresh may be written over what is found (rule 3).
    fileprivate func mayFollow(_ found: StoredSession?) -> Bool {
        switch found {
        case .active(let stored): supersedes(stored) || (hasSameTokens(as: stored) && keepsIntent(of: stored))
        case .ended: false
        case .empty, nil: true
        }
    }

    /// Whether writing the same tokens again loses no record of a call: that of another process says that it calls.
    private func keepsIntent(of stored: TokenBundle) -> Bool {
        stored.pendingRefresh.map { $0.owner == pendingRefresh?.owner } ?? true
    }
}
