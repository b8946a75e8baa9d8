import AuthInterface
import AuthTesting
import ContractTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct SessionJournalContractTests {
    @Test func `a journal that keeps every rule passes`() async throws {
        try await Self.check(timeLimit: TokenStoreContract.timeLimit) { AlteredJournal() }
    }

    @Test(arguments: JournalMutants.all)
    func `each rule of a journal is broken by its mutant`(mutant: ContractMutant<AlteredJournal>) async {
        // Short, because some mutants never return.
        await mutant.expectViolation { try await Self.check(timeLimit: .milliseconds(400), $0) }
    }

    @Test func `every rule of a journal has a mutant`() {
        #expect(Set(JournalMutants.all.map(\.rule)) == Set(SessionJournalContract.rules))
    }

    private static func check(timeLimit: Duration, _ make: () -> AlteredJournal) async throws {
        try await SessionJournalContract.check(
            reopen: { $0.onReopen($0) },
            unavailable: { journal in
                journal.base.fail()
                return journal
            },
            damaged: { $0.base.damage() },
            timeLimit: timeLimit,
            makeEmptyJournal: make)
    }
}

typealias JournalChange = @Sendable (Result<SessionJournalEntry, TokenStoreError>) -> SessionJournalEntry?

/// A journal that keeps every rule unless a test alters one of its calls.
struct AlteredJournal: SessionJournal, Alterable {
    fileprivate var base = MemorySessionJournal()
    fileprivate var onRead: @Sendable (Self) async throws -> SessionJournalEntry = { try await $0.base.read() }
    fileprivate var onUpdate: @Sendable (Self, @escaping JournalChange) async throws -> SessionJournalEntry = {
        try await $0.base.update($1)
    }
    fileprivate var onReopen: @Sendable (Self) -> Self = { $0 }

    var storeName: String { base.storeName }
    func read() async throws -> SessionJournalEntry { try await onRead(self) }
    func update(_ change: @escaping JournalChange) async throws -> SessionJournalEntry {
        try await onUpdate(self, change)
    }
    var changes: AsyncStream<Void> { base.changes }
}

/// Journals that each break a rule of ``SessionJournalContract``.
private enum JournalMutants {
    typealias Mutant = ContractMutant<AlteredJournal>

    static let all: [Mutant] = [
        Mutant("an empty journal returns an empty entry", by: "a journal that has seen a session", \.onRead) {
            let entry = try await $0.base.read()
            return entry.isEmpty ? SessionJournalEntry(seen: SessionSighting(session: SessionID())) : entry
        },
        fieldwise("forgets the ordinal of a session") { $0.seen?.ordinal = nil },
        fieldwise("forgets an end of an earlier version") { entry in
            entry = SessionJournalEntry(seen: entry.seen, pending: entry.pending)
        },
        Mutant("an update is given what was written, and an empty entry removes it", by: "reading nothing") {
            $0.onUpdate = { journal, change in
                try await journal.base.update { _ in change(.success(SessionJournalEntry())) }
            }
        },
        Mutant("concurrent updates of several journals lose nothing", by: "an update in two steps", \.onUpdate) {
            let new = $1(.success(try await $0.base.read()))
            for _ in 1...5 { await Task.yield() }
            return try await $0.base.update { _ in new }
        },
        Mutant("an update whose task is cancelled leaves the old entry or the new one", by: "a removal", \.onUpdate) {
            let new = $1(.success(try await $0.base.read()))
            // The second update of a rule waits until it is cancelled.
            while !$0.base.entry.isEmpty, !Task.isCancelled { await Task.yield() }
            try await $0.base.update { _ in SessionJournalEntry() }
            try Task.checkCancellation()
            return try await $0.base.update { _ in new }
        },
        Mutant("what a second journal over the same storage writes is read, and reported", by: "a copy", \.onReopen) {
            var copy = $0
            copy.base = MemorySessionJournal(holding: $0.base.entry)
            return copy
        },
        Mutant("a damaged entry makes a read throw `corrupt`, until an update replaces it", by: "emptiness", \.onRead) {
            do { return try await $0.base.read() } catch let error as TokenStoreError {
                if error.code == .corrupt { return SessionJournalEntry() }
                throw error
            }
        },
        Mutant("G14: an unavailable journal throws, and loses nothing", by: "`try?` in update", \.onUpdate) {
            (try? await $0.base.update($1)) ?? SessionJournalEntry()
        },
    ]

    private static func fieldwise(
        _ fault: String, _ alter: @escaping @Sendable (inout SessionJournalEntry) -> Void
    ) -> Mutant {
        Mutant("what is written is read again, field by field", by: "a journal that \(fault)", \.onRead) {
            var entry = try await $0.base.read()
            alter(&entry)
            return entry
        }
    }
}
