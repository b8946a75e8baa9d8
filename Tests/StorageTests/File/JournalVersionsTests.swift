import AuthInterface
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite("Builds of different versions over one journal", .timeLimit(.minutes(10))) struct JournalVersionsTests {
    private let temporary = TemporaryFolder()
    private let journal: FileSessionJournal
    private let folder: URL

    init() {
        folder = temporary.fresh()
        journal = FileSessionJournal(folder: folder, account: "ada", storeName: "store")
    }

    /// Replaces the file by what a build has written.
    private func put(_ text: String) async throws {
        try await journal.update { _ in SessionJournalEntry(seen: SessionSighting(session: SessionID())) }
        try folder.journalFile.writePrivately(Data("\(CRC64.text(of: Data(text.utf8)))\n\(text)".utf8))
    }

    @Test func `G36: a file of a later version is left alone`() async throws {
        try await put(#"{"entry":{"seen":7},"format":"latchkey-journal","version":3}"#)
        let later = try Data(contentsOf: folder.journalFile)
        let error = await storeError { try await journal.update { _ in SessionJournalEntry(seen: .one) } }
        #expect(error?.code == .unsupportedVersion)
        #expect(try Data(contentsOf: folder.journalFile) == later)
    }

    private static let seen =
        #""seen":{"date":790000000.5,"ordinal":1768307200500,"session":"session-1","store":"the Keychain"}"#

    /// The entries of this build, to the byte. They must stay readable. A build that names the sessions of a sign-out
    /// reads version 1, a sighting, and leaves alone version 2, an end.
    private static let current: [(text: String, entry: SessionJournalEntry)] = [
        (#"{"entry":{\#(seen)},"format":"latchkey-journal","version":1}"#, SessionJournalEntry(seen: .one)),
        (
            #"{"entry":{"end":{"end":{"date":790000000.5,"ordinal":1768307200500,"reason":"byUser","session":""}},"#
                + #"\#(seen)},"format":"latchkey-journal","version":2}"#,
            SessionJournalEntry(seen: .one, pending: .one(generation: nil))
        ),
        (
            #"{"entry":{"end":{"end":{"date":790000000.5,"ordinal":1768307200500,"reason":"byUser","session":""},"#
                + #""generation":3}},"format":"latchkey-journal","version":2}"#,
            SessionJournalEntry(pending: .one(generation: 3))
        ),
    ]

    @Test func `an entry is written in the version of the oldest build that may read it`() async throws {
        for (text, entry) in Self.current {
            try await journal.update { _ in entry }
            let written = try String(contentsOf: folder.journalFile, encoding: .utf8)
            #expect(written.split(separator: "\n").last == text[...])
            try await put(text)
            #expect(try await journal.read() == entry, "\(text)")
        }
    }

    /// A sign-out of the session `ada`, and one of a session that could not be read, which spares `eve`.
    private static let former = #"""
        {"entry":{"pending":[{"end":{"date":790000000.5,"reason":"byUser","session":"ada"},"sessions":["ada","bob"]},\#
        {"end":{"date":790000000.5,"reason":"never","session":""},"sessions":[],"spared":["eve"],"unread":true}],\#
        "seen":{"session":"session-1"}},"format":"latchkey-journal","version":1}
        """#

    @Test func `G36: an end of an earlier build is kept by name, and not as one up to an ordinal`() async throws {
        try await put(Self.former)
        for _ in 1...2 {
            let entry = try await journal.read()
            #expect(entry.pending == nil && entry.former.count == 2)
            #expect(entry.ending(of: .of("bob", at: .end + 9)) == .byUser, "whenever it began")
            #expect(entry.ending(of: .of("eve", at: .end - 9)) == nil)
            #expect(entry.ending(of: .of("zoe", at: .end - 9)) == .never, "it may be the one that was not read")
            #expect(entry.ending(of: .of("zoe", at: .end + 9)) == nil, "it began later")
            try await journal.update { found in
                var entry = try? found.get()
                entry?.seen = .one
                return entry
            }
            let text = try String(contentsOf: folder.journalFile, encoding: .utf8)
            #expect(text.hasSuffix(#""version":2}"#), "a build that names sessions leaves it alone")
        }
        #expect(try await journal.read().seen == .one)
    }
}

extension Date { fileprivate static let end = Date(timeIntervalSinceReferenceDate: 790_000_000.5) }

extension SessionSighting {
    fileprivate static let one = SessionSighting(
        session: SessionID(rawValue: "session-1"), date: .end, store: "the Keychain", ordinal: SessionOrdinal(at: .end))
}

extension PendingSignOut {
    fileprivate static func one(generation: Int?) -> PendingSignOut {
        PendingSignOut(upTo: SessionOrdinal(at: .end), generation: generation, reason: .byUser, date: .end)
    }
}

extension TokenBundle {
    fileprivate static func of(_ session: String, at date: Date) -> TokenBundle {
        TokenBundle(
            accessToken: "access-1", refreshToken: nil, session: SessionID(rawValue: session),
            ordinal: SessionOrdinal(at: date))
    }
}
