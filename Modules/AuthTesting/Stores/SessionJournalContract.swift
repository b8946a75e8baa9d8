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
/// Rules that need another journal over the same storage (`reopen`), or storage that fails (`unavailable`), are left
/// out if the argument is missing.
public enum SessionJournalContract {
    /// The default time limit of a rule: 5 minutes. Only a journal that hangs takes longer, on a busy machine too.
    public static let timeLimit: Duration = .seconds(300)

    /// The rules, as sentences, in the order in which they run.
    public static var rules: [String] { all.map(\.name) }

    /// Runs every rule, each with a new journal over new storage. `reopen` makes a second journal over the same
    /// storage, as another launch or process does. `unavailable` makes the storage fail, so that read and update must
    /// throw, and returns the journal to use. A rule that takes longer than the limit is broken.
    ///
    /// - Throws: `ContractViolation` with every broken rule; the errors of `makeEmptyJournal`.
    public static func check<Journal: SessionJournal>(
        reopen: (@Sendable (Journal) async throws -> Journal)? = nil,
        unavailable: (@Sendable (Journal) async throws -> Journal)? = nil,
        timeLimit: Duration = timeLimit,
        makeEmptyJournal: () async throws -> Journal
    ) async throws {
        try await ContractViolation.check("SessionJournalContract", rules: all, timeLimit: timeLimit) {
            let journal = try await makeEmptyJournal()
            var subject = Subject(journal: journal)
            if let reopen { subject.reopen = { try await reopen(journal) } }
            if let unavailable { subject.makeUnavailable = { try await unavailable(journal) } }
            return (subject, type(of: journal))
        }
    }

    /// A journal, and the arguments of the check for it.
    private struct Subject: Sendable {
        let journal: any SessionJournal
        var reopen: (@Sendable () async throws -> any SessionJournal)?
        var makeUnavailable: (@Sendable () async throws -> any SessionJournal)?
    }

    private static let all: [ContractRule<Subject>] = [
        ContractRule("an empty journal returns an empty entry") { subject in
            try await subject.journal.expect(SessionJournalEntry(), "before any update")
        },
        ContractRule("what is written is read again, field by field") { subject in
            for entry in entries {
                let written = try await subject.journal.update { _ in entry }
                try expectSame(written, entry, "the update returns")
                try await subject.journal.expect(entry, "after an update")
            }
        },
        ContractRule("an update is given what was written, and an empty entry removes it") { subject in
            let given = Locked(SessionJournalEntry())
            try await subject.journal.update { _ in entries[0] }
            try await subject.journal.update { found in
                given.withLock { $0 = found }
                return SessionJournalEntry()
            }
            try expectSame(given.withLock { $0 }, entries[0], "the update is given")
            try await subject.journal.expect(SessionJournalEntry(), "after it was emptied")
        },
        ContractRule("concurrent updates of several journals lose nothing") { subject in
            let second = try await subject.reopen?() ?? subject.journal
            let names = Set((0..<24).map { SessionID(rawValue: "session-\($0)") })
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, name) in names.enumerated() {
                    let journal = index.isMultiple(of: 2) ? subject.journal : second
                    group.addTask {
                        try await journal.update { found in
                            var entry = found
                            entry.pending.append(PendingSignOut(sessions: [name], reason: .byUser, date: date))
                            return entry
                        }
                    }
                }
                try await group.waitForAll()
            }
            let found = try await subject.journal.read()
            let kept = found.pending.reduce(into: Set()) { $0.formUnion($1.sessions) }
            let lost = names.count - kept.count
            try ContractTesting.expect(kept == names, otherwise: "\(lost) of \(names.count) are lost")
        },
        ContractRule("an update whose task is cancelled leaves the old entry or the new one") { subject in
            try await subject.journal.update { _ in entries[0] }
            let update = Task { [journal = subject.journal] in try await journal.update { _ in entries[1] } }
            update.cancel()
            _ = await update.result
            let found = try await subject.journal.read()
            try ContractTesting.expect(entries[0...1].contains(found), otherwise: "the journal returns \(found)")
        },
        ContractRule("a second journal over the same storage reads what the first has written") { subject in
            guard let second = try await subject.reopen?() else { return }
            try await subject.journal.update { _ in entries[0] }
            try await second.expect(entries[0], "in a journal opened before the update")
        },
        ContractRule("G14: an unavailable journal throws, and loses nothing") { subject in
            guard let makeUnavailable = subject.makeUnavailable else { return }
            try await subject.journal.update { _ in entries[0] }
            let journal = try await makeUnavailable()
            let isRead = (try? await journal.read()) != nil
            try ContractTesting.expect(!isRead, otherwise: "a read of it throws nothing")
            let isWritten = (try? await journal.update { _ in entries[1] }) != nil
            try ContractTesting.expect(!isWritten, otherwise: "an update of it throws nothing")
        },
    ]

    private static let date = Date(timeIntervalSinceReferenceDate: 800_000_000.123_456)

    private static let entries: [SessionJournalEntry] = {
        func ending(_ reason: SignOutReason, unread: Bool = false) -> PendingSignOut {
            PendingSignOut(
                sessions: [SessionID(rawValue: "first"), SessionID(rawValue: "sécond")], includesUnread: unread,
                reason: reason, date: date)
        }
        let seen = SessionSighting(session: SessionID(), date: date, store: "the \"Keychain\"")
        let details = SessionEnding(status: 400, code: "invalid_grant", date: date)
        var sparing = ending(.application("disabled"), unread: true)
        sparing.spared = [SessionID(rawValue: "third"), SessionID(rawValue: "fourth")]
        return [
            SessionJournalEntry(seen: seen, pending: [ending(.byUser), sparing]),
            SessionJournalEntry(pending: [ending(.expired(details)), ending(.never)]),
            SessionJournalEntry(seen: SessionSighting(session: SessionID())),
        ]
    }()

    fileprivate static func expectSame(
        _ found: SessionJournalEntry, _ wanted: SessionJournalEntry, _ when: String
    ) throws {
        try ContractTesting.expect(found == wanted, otherwise: "\(when) \(found), not \(wanted)")
    }
}

extension SessionJournal {
    fileprivate func expect(_ wanted: SessionJournalEntry, _ when: String) async throws {
        try SessionJournalContract.expectSame(try await read(), wanted, "\(when) a read returns")
    }
}
