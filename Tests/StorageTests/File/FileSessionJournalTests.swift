import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import Foundation
import TestSupport
import Testing

@testable import Storage

/// G30: a journal in files of this user alone. `JournalFaultTests` has what can be wrong with them.
@Suite("The journal in files", .timeLimit(.minutes(10))) struct FileSessionJournalTests {
    private let temporary = TemporaryFolder()

    private func journal(_ folder: URL, account: String = "ada", store: String = "store") -> FileSessionJournal {
        FileSessionJournal(folder: folder, account: account, storeName: store)
    }

    /// A journal that may be in several folders, the preferred one first.
    private func journal(in folders: @escaping @Sendable () -> [URL]) -> FileSessionJournal {
        FileSessionJournal(storeName: "store", account: "ada") {
            folders().map { JournalLocation(folder: $0, anchor: $0.deletingLastPathComponent()) }
        }
    }

    private func entry(_ session: String = "session-1") -> SessionJournalEntry {
        SessionJournalEntry(seen: SessionSighting(session: SessionID(rawValue: session)))
    }

    @Test func `the file journal keeps the contract`() async throws {
        // Each store's name is the path of its folder, so that it can be opened again.
        let temporary = temporary
        @Sendable func journal(_ folder: String) -> FileSessionJournal {
            FileSessionJournal(folder: URL(fileURLWithPath: folder), storeName: folder)
        }
        try await SessionJournalContract.check(
            reopen: { journal($0.storeName) },
            unavailable: { journal in
                let folder = URL(fileURLWithPath: journal.storeName)
                try FileManager.default.removeItem(at: folder)
                try Data("no folder".utf8).write(to: folder)
                return journal
            },
            damaged: { journal in
                let file = try URL(fileURLWithPath: journal.storeName).journalFile
                #expect(truncate(file.path, 40) == 0)
            },
            makeEmptyJournal: { journal(temporary.fresh().path) }
        )
    }

    @Test func `a read creates nothing, an entry private files that show no account, an empty one none`() async throws {
        let folder = temporary.fresh()
        let journal = journal(folder, account: "ada-of-example")
        #expect(try await journal.read().isEmpty)
        try await journal.update { try? $0.get() }
        #expect(!FileManager.default.fileExists(atPath: folder.path))

        try await journal.update { _ in self.entry() }
        #expect(try folder.permissions == "700")
        for name in try folder.names {
            let file = folder.appendingPathComponent(name)
            #expect(try file.permissions == "600")
            #expect(try !name.contains("ada") && Data(contentsOf: file).range(of: Data("ada-of".utf8)) == nil)
        }
        var text = "\(journal)"
        dump(journal, to: &text)
        #expect(!text.contains("ada-of"))

        try await journal.update { _ in SessionJournalEntry() }
        #expect(try !folder.names.contains { $0.hasSuffix(".json") })
    }

    @Test func `two accounts, and two stores, have a journal each, and another folder other names`() async throws {
        let (folder, other) = (temporary.fresh(), temporary.fresh())
        for folder in [folder, other] { try await journal(folder).update { _ in self.entry() } }
        #expect(try await journal(folder, account: "bob").read().isEmpty)
        #expect(try await journal(folder, store: "another").read().isEmpty)
        let names = try [folder, other].map { try $0.names.filter { $0.hasSuffix(".json") } }
        #expect(names[0].count == 1 && names[0] != names[1], "the key of each folder is its own")
    }

    @Test func `G14: a folder that was there, and is gone, is no empty journal`() async throws {
        let folder = temporary.fresh()
        let journal = journal(folder)
        try await journal.update { _ in self.entry() }
        try FileManager.default.moveItem(at: folder, to: temporary.fresh())
        #expect(await storeError { _ = try await journal.read() }?.code == .unavailable)
    }

    // MARK: Changes

    enum Place: CaseIterable, Sendable { case isMissing, isEmpty, hasKey }

    @Test(arguments: Place.allCases)
    func `the first entry and the next ones are reported, whatever was there before`(place: Place) async throws {
        // Often, because the folder and its key may be made at any instant of the look for them.
        for round in 1...30 {
            let folder = temporary.fresh()
            if place == .isEmpty { try folder.makePrivateFolder() }
            if place == .hasKey { try await journal(folder, account: "bob").update { _ in self.entry() } }
            let (mine, theirs) = (journal(folder), journal(folder))
            var reports = mine.changes.makeAsyncIterator()
            if round.isMultiple(of: 2) { try #require(await reports.next() != nil) }
            for entry in [entry("1"), entry("2"), SessionJournalEntry()] {
                try await theirs.update { _ in entry }
                repeat { try #require(await reports.next() != nil) } while try await mine.read() != entry
            }
        }
    }

    @Test func `the stream of changes ends where the journal cannot be read`() async throws {
        let folder = temporary.fresh()
        try await journal(folder).update { _ in self.entry() }
        try folder.appendingPathComponent("key").writePrivately(Data("no key".utf8))
        for await _ in journal(folder).changes { Issue.record("a report from nowhere") }
    }

    // MARK: Where it is

    #if os(Linux)
    @Test func `by default it is in the state folder, and beside tokens on another disk or in memory`() throws {
        let environment = ["HOME": "/home/ada", "XDG_STATE_HOME": "/state", "XDG_CONFIG_HOME": "/config"]
        let defaults = JournalLocation.standard("app", environment: environment).map(\.folder.path)
        #expect(defaults == ["/state/app/journal", "/config/app/journal", "/home/ada/.local/share/app/journal"])

        func paths(apartFrom tokens: URL, _ standard: JournalLocation) -> [String] {
            JournalLocation.apart(from: tokens, [standard]).map(\.folder.path)
        }
        let (tokens, state) = (temporary.fresh(), temporary.fresh())
        let here = JournalLocation(folder: state.appendingPathComponent("journal"), anchor: state)
        let beside = tokens.path + ".journal"
        #expect(paths(apartFrom: tokens, here) == [here.folder.path, beside], "as where the disk is absent")
        let virtual = JournalLocation(folder: URL(fileURLWithPath: "/proc/journal"), anchor: temporary.url)
        #expect(paths(apartFrom: tokens, virtual).first == beside, "no file can be stored in /proc")
        #expect(paths(apartFrom: state.appendingPathComponent("tokens"), here) == [here.folder.path])

        let memory = URL(fileURLWithPath: "/dev/shm/latchkey-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: memory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: memory) }
        let device = try #require(FileSystemKind.nearestDevice(to: memory.path))
        try #require(FileSystemKind(device: device) == .memory, "the kernel's folder for shared memory")
        let found = paths(apartFrom: memory, here)
        #expect(found == [memory.path + ".journal", here.folder.path], "one that is on a disk is found, too")
    }
    #endif

    @Test func `G30: a journal in the state folder is found while the tokens' disk is absent`() async throws {
        let (state, mountPoint) = (temporary.fresh(), temporary.fresh())
        for folder in [state, mountPoint] { try folder.makePrivateFolder() }
        let standard = JournalLocation(folder: state.appendingPathComponent("journal"), anchor: state)
        try await self.journal(standard.folder).update { _ in self.entry() }
        let journal = FileSessionJournal(storeName: "store", account: "ada") {
            JournalLocation.apart(from: mountPoint.appendingPathComponent("tokens"), [standard])
        }
        #expect(try await journal.read() == entry())
    }

    @Test func `G30: until a journal was found it is looked for each time`() async throws {
        let (first, second) = (temporary.fresh(), temporary.fresh())
        let shown = Locked([first, second])
        let journal = journal(in: { shown.withLock { $0 } })
        #expect(try await journal.read().isEmpty)
        try await self.journal(second).update { _ in self.entry() }
        #expect(try await journal.read() == entry())
        shown.withLock { $0 = [first] }
        #expect(try await journal.read() == entry(), "where it is once, it stays")
    }

    @Test func `a folder with the journal of another account is not the place of this one`() async throws {
        let (first, second) = (temporary.fresh(), temporary.fresh())
        try await journal(first, account: "bob").update { _ in self.entry() }
        try await journal(second).update { _ in self.entry() }
        #expect(try await journal(in: { [first, second] }).read() == entry())
    }
}
