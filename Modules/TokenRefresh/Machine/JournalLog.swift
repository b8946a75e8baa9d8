import AuthInterface
import Foundation

/// A change of the journal that this process wants. It is applied to what the journal holds when it is written, as
/// other processes write it too.
struct JournalEdit: Hashable, Sendable {
    enum Note: Hashable, Sendable {
        /// A session is in the store.
        case seen(SessionID, at: Date)
        /// A sign-out that the store is about to take.
        case ending(PendingSignOut)
        /// The store is about to take a session. The sign-outs that wait for the first read were asked for before it
        /// began, unless the clock shows that one came since.
        case sparing(SessionID, begunAt: Date)
        /// Sessions that are known not to be in the store any more.
        case ended(Set<SessionID>)
        /// What an entry says is over: the store holds other content since.
        case over(SessionJournalEntry)
        /// No sign-out waits for the first read any more: one has ended.
        case fulfilled
        /// The store has taken a session in place of what the sign-outs that spare it were meant for. One that came
        /// since waits for the next start.
        case replaced(by: SessionID)
    }

    var notes: [Note] = []

    /// More sign-outs than these, sessions that one spares, or notes, are not kept: the oldest go first.
    static let (pendingLimit, sparedLimit, noteLimit) = (8, 8, 32)

    /// What the journal is to hold. `date`: now, when the journal takes the change, however late that is.
    func applied(to entry: SessionJournalEntry, store: String, at date: Date) -> SessionJournalEntry {
        notes.reduce(into: entry) { $1.apply(to: &$0, store, date) }
    }
}

extension JournalEdit.Note {
    fileprivate func apply(to entry: inout SessionJournalEntry, _ store: String, _ now: Date) {
        switch self {
        case .seen(let session, let date):
            entry.seen = SessionSighting(session: session, date: date, store: store)
        case .ending(var new):
            if let seen = entry.seen, new.isMeant(for: seen, foundAt: now) {
                new.sessions.insert(seen.session)
                entry.seen = nil
            }
            entry.pending.removeAll { $0.isIncluded(in: new) }
            entry.pending = (entry.pending + [new]).suffix(JournalEdit.pendingLimit)
        case .sparing(let session, let begun):
            // The journal may take this late. Where the clock was set back since the session began, nothing is known.
            if begun > now + Moment.clockTolerance { return }
            for index in entry.pending.indices where entry.pending[index].includesUnread {
                // A date that is not yet reached is of a clock that was set back before the session began.
                if (begun...max(begun, now)).contains(entry.pending[index].date) { continue }
                let others = entry.pending[index].spared.filter { $0 != session }
                entry.pending[index].spared = (others + [session]).suffix(JournalEdit.sparedLimit)
            }
        case .ended(let sessions):
            if let seen = entry.seen, sessions.contains(seen.session) { entry.seen = nil }
            entry.pending = entry.pending.compactMap { $0.without(sessions) }
        case .over(let found):
            if entry.seen?.session == found.seen?.session { entry.seen = nil }
            entry.pending.removeAll(where: found.pending.contains)
        case .fulfilled: entry.removeUnread { _ in true }
        case .replaced(let session): entry.removeUnread { $0.spared.contains(session) }
        }
    }
}

extension SessionJournalEntry {
    /// Sign-outs are not meant any more for a session that no read has shown.
    fileprivate mutating func removeUnread(where isOver: (PendingSignOut) -> Bool) {
        for index in pending.indices where pending[index].includesUnread && isOver(pending[index]) {
            (pending[index].includesUnread, pending[index].spared) = (false, [])
        }
        pending.removeAll { $0.sessions.isEmpty && !$0.includesUnread }
    }
}

extension PendingSignOut {
    /// Whether another sign-out ends all that this one ends.
    fileprivate func isIncluded(in other: PendingSignOut) -> Bool {
        guard sessions.isSubset(of: other.sessions) else { return false }
        guard includesUnread else { return true }
        return other.includesUnread && other.date >= date && other.spared.allSatisfy(spared.contains)
    }

    /// Whether a session that was seen is to end. One that was first seen later may have begun later, as where a write
    /// of the journal has hung: whether it has, only its tokens show.
    fileprivate func isMeant(for seen: SessionSighting, foundAt now: Date) -> Bool {
        let isLater = seen.date?.isKnownToFollow(date, foundAt: now) ?? false
        return sessions.contains(seen.session) || (includesUnread && !isLater)
    }

    /// What is left of it once some sessions have ended.
    fileprivate func without(_ ended: Set<SessionID>) -> PendingSignOut? {
        var rest = self
        rest.sessions.subtract(ended)
        return rest.sessions.isEmpty && !includesUnread ? nil : rest
    }

    /// Whether the process that has asked for it may still be storing the sessions, and then their end.
    func mayBeUnderWay(at now: Date) -> Bool {
        !includesUnread && abs(now.timeIntervalSince(date)) < JournalLog.sightingAge
    }

    /// Whether a session that the store holds is to end. One of which it is known that it began later is not the one
    /// that was meant.
    func ends(_ bundle: TokenBundle, foundAt now: Date) -> Bool {
        if sessions.contains(bundle.session) { return true }
        return includesUnread && !spared.contains(bundle.session) && !bundle.hasBegun(after: date, foundAt: now)
    }
}

extension SessionSighting {
    /// Whether it is of a session that began after a sign-out of other ones.
    func isAnother(than pending: PendingSignOut, foundAt now: Date) -> Bool {
        guard let date, !pending.includesUnread, !pending.sessions.contains(session) else { return false }
        return date.isKnownToFollow(pending.date, foundAt: now)
    }
}

/// What is known of the journal, and what is still to be written in it (G30).
///
/// It is a register: what is wanted is written with the next write, and at most one is under way. A write that fails is
/// repeated with the next occasion and not on its own: nothing that a user does waits for it, but for the beginning and
/// the end of a session, which wait for one attempt.
struct JournalLog: Hashable, Sendable {
    /// How long a sighting, or a sign-out of another process, counts as current.
    static let sightingAge: TimeInterval = 3_600

    /// What was last read or written. `nil`: not known.
    private(set) var entry: SessionJournalEntry?
    /// The first read of the store waits for a read of the journal.
    var isAwaited = false
    /// The journal was read before the read of the store under way.
    var isReadInTime = false
    /// The last failure; `nil`: the last operation has succeeded.
    private(set) var failure: TokenStoreError?
    /// What the session is noted as.
    private(set) var noted: SessionSighting?
    /// The store waits until the beginning or the end of a session is noted, or cannot be.
    var holdsStore = false
    private var isReading = false
    /// The journal was written since the read under way has started, which may not show it.
    private var isReadStale = false
    private var wanted = JournalEdit()
    private var underWay: JournalEdit?

    var isWriting: Bool { underWay != nil }

    /// What the journal is not known to have taken.
    private var notes: [JournalEdit.Note] { (underWay?.notes ?? []) + wanted.notes }

    /// Whether the journal holds all endings that this process wants in it.
    var hasNotedEndings: Bool {
        !notes.contains { if case .ending = $0 { true } else { false } }
    }

    // MARK: Reading

    /// Returns whether no other read is under way: one that hangs is not joined by more.
    mutating func startReading() -> Bool {
        defer { isReading = true }
        return !isReading
    }

    mutating func read(_ result: Result<SessionJournalEntry, TokenStoreError>) {
        let isStale = isReadStale
        (isReading, isReadStale) = (false, false)
        switch result {
        case .success where isStale: failure = nil
        case .success(let found): learn(found)
        case .failure(let error): failure = error
        }
    }

    private mutating func learn(_ found: SessionJournalEntry) {
        (entry, failure) = (found, nil)
        // What another process has removed is noted again.
        if noted == nil || !isWanted(noted) { noted = found.seen }
    }

    private func isWanted(_ sighting: SessionSighting?) -> Bool {
        guard let sighting else { return false }
        return notes.contains {
            if case .seen(sighting.session, _) = $0 { true } else { false }
        }
    }

    /// The sign-out that ends a session of the store.
    func pendingEnd(of bundle: TokenBundle, foundAt now: Date) -> PendingSignOut? {
        entry?.pending.first { $0.ends(bundle, foundAt: now) }
    }

    /// Whether no sign-out before a first read, of this process or of another one, is meant for a session.
    func spares(_ session: SessionID) -> Bool {
        let unread = entry?.pending.filter(\.includesUnread) ?? []
        return hasNotedEndings && !unread.isEmpty && unread.allSatisfy { $0.spared.contains(session) }
    }

    // MARK: Writing

    /// Whether a session in the store is to be noted: it is not, or that was long ago.
    func lacksSighting(of session: SessionID, at now: Date) -> Bool {
        guard let noted, noted.session == session, let date = noted.date else { return true }
        return abs(now.timeIntervalSince(date)) >= Self.sightingAge
    }

    /// Adds a note. What a later note makes superfluous goes. Returns whether there is something to write: what is
    /// known to be so is not noted.
    mutating func want(_ note: JournalEdit.Note) -> Bool {
        switch note {
        case .seen(let session, let date):
            noted = SessionSighting(session: session, date: date)
            wanted.notes.removeAll { if case .seen = $0 { true } else { false } }
        case .ending(let new):
            if new.sessions.contains(where: { $0 == noted?.session }) { noted = nil }
            // One that waits for the first read is meant for a session that has begun since the last one.
            if !new.includesUnread, isKnown(new) { return false }
            wanted.notes.removeAll { if case .ending(let old) = $0 { old.isIncluded(in: new) } else { false } }
        case .sparing: break
        case .ended(let sessions):
            if let noted, sessions.contains(noted.session) { self.noted = nil }
            wanted.notes = wanted.notes.compactMap { $0.without(sessions) }
            if sessions.isEmpty || underWay?.notes.last == note { return false }
            if underWay == nil, wanted.notes.isEmpty, entry?.concerns(sessions) == false { return false }
        case .over(let found):
            if found.isEmpty { return false }
            if noted?.session == found.seen?.session { noted = nil }
        case .fulfilled, .replaced:
            let hasUnread = notes.contains { if case .ending(let end) = $0 { end.includesUnread } else { false } }
            if !hasUnread, entry?.pending.contains(where: \.includesUnread) == false { return false }
        }
        wanted.notes = (wanted.notes + [note]).suffix(JournalEdit.noteLimit)
        return true
    }

    /// Whether the journal holds an ending already.
    private func isKnown(_ new: PendingSignOut) -> Bool {
        guard underWay == nil, wanted.notes.isEmpty, let entry else { return false }
        return entry.pending.contains { new.isIncluded(in: $0) }
    }

    /// Takes the next write, if there is one to make and none is under way.
    mutating func next() -> JournalEdit? {
        guard underWay == nil, !wanted.notes.isEmpty else { return nil }
        underWay = wanted
        wanted = JournalEdit()
        return underWay
    }

    /// Notes how the write under way ended. Returns whether to write again at once: something has been added meanwhile.
    mutating func wrote(_ result: Result<SessionJournalEntry, TokenStoreError>) -> Bool {
        let written = underWay?.notes ?? []
        underWay = nil
        let hasMore = !wanted.notes.isEmpty
        switch result {
        case .success(let found):
            learn(found)
            isReadStale = isReading
        case .failure(let error):
            failure = error
            wanted.notes = (written + wanted.notes).suffix(JournalEdit.noteLimit)
        }
        return hasMore
    }
}

extension JournalEdit.Note {
    /// What is left of it once some sessions have ended.
    fileprivate func without(_ sessions: Set<SessionID>) -> Self? {
        switch self {
        case .seen(let session, _): sessions.contains(session) ? nil : self
        case .ending(let pending): pending.without(sessions).map { .ending($0) }
        case .ended(let ended): ended.isSubset(of: sessions) ? nil : self
        case .sparing, .over, .fulfilled, .replaced: self
        }
    }
}

extension SessionJournalEntry {
    fileprivate func concerns(_ sessions: Set<SessionID>) -> Bool {
        if let seen, sessions.contains(seen.session) { return true }
        return pending.contains { !$0.sessions.isDisjoint(with: sessions) }
    }
}
