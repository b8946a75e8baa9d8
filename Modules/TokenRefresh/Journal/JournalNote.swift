import AuthInterface
import Foundation

/// What a write of the store notes in the journal first, and what is over once the store has it (G30).
extension StoreContent {
    /// Which sessions end with the write. `nil`: none, or those that a server has rejected in a shared store: newer
    /// tokens of theirs may be those of another process (G13).
    func note(isShared: Bool) -> PendingSignOut? {
        switch self {
        case .bundle(let bundle, over: .lower(let ends)):
            // Who signs in over a session has left it.
            return ends.map { PendingSignOut(upTo: $0, reason: .byUser, date: bundle.signedInAt ?? .distantPast) }
        case .bundle: return nil
        case .tombstone(let reason, let date, .rejected(let bundle, _)):
            guard !isShared else { return nil }
            return PendingSignOut(upTo: bundle.ordinal, generation: bundle.generation, reason: reason, date: date)
        case .tombstone(let reason, let date, let scope):
            return PendingSignOut(upTo: scope.ordinal, reason: reason, date: date)
        }
    }

    /// Whether sessions begin or end with the write.
    var isAct: Bool { settles != nil }

    /// Up to which ordinal nothing is pending any more, once the write succeeds. `nil`: it begins and ends nothing.
    private var settles: SessionOrdinal? {
        switch self {
        case .bundle(_, over: .lower(let ends)): ends ?? .unknown
        case .bundle: nil
        case .tombstone(_, _, let scope): scope.ordinal
        }
    }

    /// What the journal is to hold once the write has ended, and has not failed.
    func settled(
        _ entry: SessionJournalEntry, _ outcome: WriteOutcome, in store: String, at date: Date
    ) -> SessionJournalEntry {
        guard let settles else { return entry }
        // Newer tokens than the rejected ones were found: they are not ended by a rejection, but may be otherwise.
        if case (.tombstone(_, _, .rejected), .superseded) = (self, outcome) { return entry }
        var entry = entry
        if bundle == nil, let seen = entry.seen, seen.isUp(to: settles) || outcome.removed?.session == seen.session {
            entry.seen = nil
        }
        // Tokens that have vanished may come back: they end then.
        if case (.tombstone(_, _, .unread), .written(replaced: nil)) = (self, outcome) { return entry }
        if let pending = entry.pending, pending.ordinal <= settles { entry.pending = nil }
        if case .written = outcome {
            entry.former = []
            if let bundle { entry.see(bundle, in: store, at: date) }
        }
        return entry
    }
}

extension WriteOutcome {
    /// The tokens that were removed: in a store of one process, an end removes those of a later session too.
    fileprivate var removed: TokenBundle? { if case .written(let removed) = self { removed } else { nil } }
}

extension SessionJournalEntry {
    /// The highest ordinal that is written. `nil`: there is none.
    var ordinal: SessionOrdinal? { [pending?.ordinal, seen?.place].compactMap(\.self).max() }

    /// Notes an end: the one that reaches further stays, and of two that reach as far the first.
    mutating func note(_ new: PendingSignOut) { if !holds(new) { pending = new } }

    /// Whether all that an end ends is pending already.
    func holds(_ new: PendingSignOut) -> Bool {
        guard let pending, pending.ordinal >= new.ordinal else { return false }
        guard pending.ordinal == new.ordinal, let generation = pending.generation else { return true }
        return new.generation.map { $0 <= generation } ?? false
    }

    /// Notes that the store holds a session, unless it is to end, or another one came after it.
    mutating func see(_ bundle: TokenBundle, in store: String, at date: Date) {
        guard ending(of: bundle) == nil, seen?.isUp(to: bundle.ordinal) ?? true else { return }
        seen = SessionSighting(of: bundle, in: store, at: date)
    }

    /// Whether the session is to be noted as seen: it is not, or that was long ago.
    func lacks(_ bundle: TokenBundle, at now: Date) -> Bool {
        guard let seen, seen.session == bundle.session, seen.ordinal != nil, let date = seen.date else { return true }
        return abs(now.timeIntervalSince(date)) >= SessionSighting.age
    }
}

extension SessionSighting {
    /// How long a sighting counts as current, in seconds.
    static let age: TimeInterval = 3_600

    fileprivate init(of bundle: TokenBundle, in store: String, at date: Date) {
        self.init(session: bundle.session, date: date, store: store, ordinal: bundle.ordinal)
    }

    /// Up to which ordinal the session ends where it is lost: an earlier version has noted only when it was there.
    var place: SessionOrdinal { ordinal ?? date.map { SessionOrdinal(at: $0) } ?? .unknown }

    fileprivate func isUp(to ordinal: SessionOrdinal) -> Bool { self.ordinal ?? .unknown <= ordinal }

    /// Whether the session is lost where the store holds nothing: even the end of an older one would be forgotten.
    func isRecent(at now: Date) -> Bool {
        date.map { abs(now.timeIntervalSince($0)) <= SessionTombstone.lifetime / .seconds(1) } ?? true
    }
}
