public import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation

/// The rules that every `SessionJournal` must keep, as a suite to run against yours.
///
/// ```swift
/// @Test func `my journal keeps the contract`() async throws {
///     try await SessionJournalContract.check(reopen: { PartnerJournal(at: $0.file) }) { PartnerJournal(at: .fresh()) }
/// }
/// ```
public enum SessionJournalContract {
    /// The rules, as sentences, in the order in which they run.
    public static var rules: [String] { all.map(\.name) }

    /// Runs every rule, each with a new journal over new storage. `reopen` makes a second journal over the same
    /// storage, as another launch or process does. `unavailable` makes the storage fail, so that read and update must
    /// throw, and returns the journal to use. `damaged` replaces what is written by what is not an entry. Rules that
    /// need a missing argument are left out. A rule that takes longer than the limit is broken.
    ///
    /// - Throws: `ContractViolation` with every broken rule; the errors of `makeEmptyJournal`.
    public static func check<Journal: SessionJournal>(
        reopen: (@Sendable (Journal) async throws -> Journal)? = nil,
        unavailable: (@Sendable (Journal) async throws -> Journal)? = nil,
        damaged: (@Sendable (Journal) async throws -> Void)? = nil,
        timeLimit: Duration = TokenStoreContract.timeLimit, makeEmptyJournal: () async throws -> Journal
    ) async throws {
        try await ContractViolation.check("SessionJournalContract", rules: all, timeLimit: timeLimit) {
            let journal = try await makeEmptyJournal()
            var subject = Subject(journal: journal)
            if let reopen { subject.reopen = { try await reopen(journal) } }
            if let unavailable { subject.makeUnavailable = { try await unavailable(journal) } }
            if let damaged { subject.damage = { try await damaged(journal) } }
            return (subject, type(of: journal))
        }
    }

    /// A journal, and the arguments of the check for it.
    private struct Subject: Sendable {
        let journal: any SessionJournal
        var reopen: (@Sendable () async throws -> any SessionJournal)?
        var makeUnavailable: (@Sendable () async throws -> any SessionJournal)?
        var damage: (@Sendable () async throws -> Void)?
    }

    private static let all: [ContractRule<Subject>] = [
        ContractRule("an empty journal returns an empty entry") { subject in
            try await subject.journal.expect(SessionJournalEntry(), "before any update")
        },
        ContractRule("what is written is read again, field by field") { subject in
            for entry in entries {
                let written = try await subject.journal.update { _ in entry }
                try expect(written == entry, otherwise: "the update returns \(written), not \(entry)")
                try await subject.journal.expect(entry, "after an update")
            }
        },
        ContractRule("an update is given what was written, and an empty entry removes it") { subject in
            let given = Locked(SessionJournalEntry())
            try await subject.journal.update { _ in entries[0] }
            try await subject.journal.update { found in
                if let entry = try? found.get() { given.withLock { $0 = entry } }
                return SessionJournalEntry()
            }
            let found = given.withLock { $0 }
            try expect(found == entries[0], otherwise: "the update is given \(found), not \(entries[0])")
            try await subject.journal.expect(SessionJournalEntry(), "after it was emptied")
        },
        ContractRule("concurrent updates of several journals lose nothing") { subject in
            let second = try await subject.reopen?() ?? subject.journal
            try await withThrowingTaskGroup(of: Void.self) { group in
                for journal in Array(repeating: [subject.journal, second], count: 12).joined() {
                    group.addTask {
                        try await journal.update { found in
                            let last = try? found.get().pending?.ordinal
                            let next = (last ?? .unknown).next
                            return SessionJournalEntry(pending: PendingSignOut(upTo: next, reason: .byUser, date: date))
                        }
                    }
                }
                try await group.waitForAll()
            }
            let last = try await subject.journal.read().pending?.ordinal.rawValue ?? 0
            try expect(last == 24, otherwise: "\(24 - last) of 24 are lost")
        },
        ContractRule("an update whose task is cancelled leaves the old entry or the new one") { subject in
            try await subject.journal.update { _ in entries[0] }
            let update = Task { [journal = subject.journal] in try await journal.update { _ in entries[1] } }
            update.cancel()
            _ = await update.result
            let found = try await subject.journal.read()
            try expect(entries[0...1].contains(found), otherwise: "the journal returns \(found)")
        },
        ContractRule("what a second journal over the same storage writes is read, and reported") { subject in
            guard let second = try await subject.reopen?() else { return }
            var reports = subject.journal.changes.makeAsyncIterator()
            for entry in entries {
                try await second.update { _ in entry }
                // A report may be one of an earlier write, and a stream that has ended reports nothing.
                while await reports.next() != nil, try await subject.journal.read() != entry {}
                try await subject.journal.expect(entry, "in a journal opened before the update")
            }
        },
        ContractRule("a damaged entry makes a read throw `corrupt`, until an update replaces it") { subject in
            guard let damage = subject.damage else { return }
            try await subject.journal.update { _ in entries[0] }
            try await damage()
            let errors = [
                ("a read", await failure { _ = try await subject.journal.read() }),
                ("an update that leaves it", await failure { try await subject.journal.update { _ in nil } }),
                ("a read after it", await failure { _ = try await subject.journal.read() }),
            ]
            for (call, error) in errors where (error as? TokenStoreError)?.code != .corrupt {
                throw RuleBroken("\(call) throws \(error.map { "\($0)" } ?? "nothing")")
            }
            try await subject.journal.update { found in (try? found.get()) ?? entries[1] }
            try await subject.journal.expect(entries[1], "after it was replaced")
        },
        ContractRule("G14: an unavailable journal throws, and loses nothing") { subject in
            guard let makeUnavailable = subject.makeUnavailable else { return }
            try await subject.journal.update { _ in entries[0] }
            let journal = try await makeUnavailable()
            try expect(await failure { _ = try await journal.read() } != nil, otherwise: "read threw nothing")
            let error = await failure { try await journal.update { _ in entries[1] } }
            try expect(error != nil, otherwise: "update threw nothing")
        },
    ]

    private static let date = Date(timeIntervalSinceReferenceDate: 800_000_000.123_456)

    private static let entries: [SessionJournalEntry] = {
        func end(_ reason: SignOutReason, generation: Int? = nil) -> PendingSignOut {
            PendingSignOut(upTo: SessionOrdinal(at: date), generation: generation, reason: reason, date: date)
        }
        let seen = SessionSighting(
            session: SessionID(), date: date, store: "the \"Keychain\"", ordinal: SessionOrdinal(rawValue: 1 << 53))
        let details = SessionEnding(status: 400, code: "invalid_grant", date: date)
        // The end that an earlier version has noted goes with the rest of the entry.
        let former =
            #"{"pending":[{"end":{"date":8.25,"reason":"byUser","session":"1"},"sessions":["1"],"spared":["s\u00e9"]}]}"#
        return [
            SessionJournalEntry(seen: seen, pending: end(.byUser)),
            SessionJournalEntry(pending: end(.expired(details), generation: 7)),
            SessionJournalEntry(pending: end(.application("s\u{e9}cond"), generation: 0)),
            SessionJournalEntry(seen: SessionSighting(session: SessionID())),
        ] + [try? JSONDecoder().decode(SessionJournalEntry.self, from: Data(former.utf8))].compactMap(\.self)
    }()
}

extension SessionJournal {
    fileprivate func expect(_ wanted: SessionJournalEntry, _ when: String) async throws {
        let found = try await read()
        try ContractTesting.expect(found == wanted, otherwise: "\(when) a read returns \(found), not \(wanted)")
    }
}
