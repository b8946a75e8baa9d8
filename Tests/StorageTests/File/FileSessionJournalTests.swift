import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import Foundation
import TestSupport
import Testing

@testable import Storage

/// G30: a journal in files of this user alone.
@Suite("The journal in files", .timeLimit(.minutes(10)))
struct FileSessionJournalTests {
    let temporary = TemporaryFolder()

    private func journal(_ folder: URL, account: String = "ada", store: String = "store") -> FileSessionJournal {
        FileSessionJournal(folder: folder, account: account, storeName: store)
    }

    private func entry(_ session: String = "session-1") -> SessionJournalEntry {
        SessionJournalEntry(seen: SessionSighting(session: SessionID(rawValue: session)))
    }

    /// The file of the only journal in a folder, after a first entry.
    private func written(in folder: URL) async throws -> URL {
        _ = try await journal(folder).update { _ in self.entry() }
        return folder.appendingPathComponent(try #require(try files(folder).keys.first { $0.hasSuffix(".json") }))
    }

    private func files(_ folder: URL) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let pairs = try names.map { ($0, try Data(contentsOf: folder.appendingPathComponent($0))) }
        return Dictionary(uniqueKeysWithValues: pairs)
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
                let folder = URL(fileURLWithPath: journal.storeName)
                let name = try #require(try folder.names.first { $0.hasSuffix(".json") })
                #expect(truncate(folder.appendingPathComponent(name).path, 40) == 0)
            },
            makeEmptyJournal: { journal(temporary.fresh().path) }
        )
    }

    @Test func `a read creates nothing, nor does an update that says nothing`() async throws {
        let folder = temporary.fresh()
        #expect(try await journal(folder).read().isEmpty)
        _ = try await journal(folder).update { try? $0.get() }
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test func `files are 0600 in a folder of 0700, and show no account`() async throws {
        let folder = temporary.fresh()
        let journal = journal(folder, account: "ada-of-example")
        _ = try await journal.update { _ in self.entry() }
        #expect(try folder.permissions == "700")
        for (name, data) in try files(folder) {
            #expect(try folder.appendingPathComponent(name).permissions == "600")
            #expect(!name.contains("ada") && data.range(of: Data("ada-of".utf8)) == nil)
        }
        var dumped = ""
        dump(journal, to: &dumped)
        #expect(!"\(journal)\(dumped)".contains("ada-of"))
    }

    @Test func `two accounts, and two stores, have a journal each, and another folder other names`() async throws {
        let (folder, other) = (temporary.fresh(), temporary.fresh())
        _ = try await journal(folder).update { _ in self.entry("1") }
        #expect(try await journal(folder, account: "bob").read().isEmpty)
        #expect(try await journal(folder, store: "another").read().isEmpty)
        _ = try await journal(other).update { _ in self.entry("1") }
        let names = try [folder, other].map { try files($0).keys.filter { $0.hasSuffix(".json") } }
        #expect(names[0].count == 1 && names[0] != names[1], "the key of each folder is its own")
    }

    @Test func `an empty journal leaves no file`() async throws {
        let folder = temporary.fresh()
        _ = try await journal(folder).update { _ in self.entry() }
        _ = try await journal(folder).update { _ in SessionJournalEntry() }
        #expect(try files(folder).keys.filter { $0.hasSuffix(".json") }.isEmpty)
    }

    @Test func `S19: a file with any flipped bit is not read`() async throws {
        let folder = temporary.fresh()
        let journal = journal(folder)
        let file = try await written(in: folder)
        let data = try Data(contentsOf: file)
        for bit in stride(from: 0, to: data.count * 8, by: 5) {
            var damaged = data
            damaged[bit / 8] ^= 1 << (bit % 8)
            try overwrite(file, with: damaged)
            await #expect(throws: TokenStoreError.self) { try await journal.read() }
        }
    }

    @Test func `G36: a file of a later version is left alone`() async throws {
        let folder = temporary.fresh()
        let file = try await written(in: folder)
        let body = Data(#"{"entry":{"seen":7},"format":"latchkey-journal","version":3}"#.utf8)
        try overwrite(file, with: Data((CRC64.text(of: body) + "\n").utf8) + body)
        let error = await #expect(throws: TokenStoreError.self) {
            try await journal(folder).update { _ in self.entry("2") }
        }
        #expect(error?.code == .unsupportedVersion)
    }

    @Test func `a file that others can read, or a link, is refused`() async throws {
        let folder = temporary.fresh()
        let file = try await written(in: folder)
        chmod(file.path, 0o644)
        await #expect(throws: TokenStoreError.self) { try await journal(folder).read() }
        chmod(file.path, 0o600)
        let target = temporary.fresh()
        try FileManager.default.moveItem(at: file, to: target)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
        let error = await #expect(throws: TokenStoreError.self) { try await journal(folder).read() }
        #expect(error?.code == .insecure)
    }

    @Test func `a pipe, or a link to a device, in place of the key is refused and waits for nothing`() async throws {
        for isPipe in [true, false] {
            let folder = temporary.fresh()
            _ = try await journal(folder).update { _ in self.entry() }
            let key = folder.appendingPathComponent("key")
            try FileManager.default.removeItem(at: key)
            if isPipe {
                #expect(mkfifo(key.path, 0o600) == 0)
            } else {
                try FileManager.default.createSymbolicLink(atPath: key.path, withDestinationPath: "/dev/zero")
            }
            let error = await #expect(throws: TokenStoreError.self) { try await journal(folder).read() }
            #expect(error?.code == .insecure)
        }
    }

    @Test func `G14: a folder that was there, and is gone, is no empty journal`() async throws {
        let folder = temporary.fresh()
        let journal = journal(folder)
        _ = try await journal.update { _ in self.entry() }
        try FileManager.default.moveItem(at: folder, to: temporary.fresh())
        let error = await #expect(throws: TokenStoreError.self) { try await journal.read() }
        #expect(error?.code == .unavailable)
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
        _ = try await journal(folder).update { _ in self.entry() }
        try overwrite(folder.appendingPathComponent("key"), with: Data("no key".utf8))
        for await _ in journal(folder).changes { Issue.record("a report from nowhere") }
    }

    // MARK: Where it is

    @Test func `by default it is in the state folder, and beside tokens in files on another disk`() throws {
        let environment = ["HOME": "/home/ada", "XDG_STATE_HOME": "/state", "XDG_CONFIG_HOME": "/config"]
        #if !canImport(Darwin)
        let paths = JournalLocation.standard("app", environment: environment).map(\.folder.path)
        #expect(paths == ["/state/app/journal", "/config/app/journal", "/home/ada/.local/share/app/journal"])
        let tokens = temporary.fresh()
        let state = temporary.fresh()
        let here = [JournalLocation(folder: state.appendingPathComponent("journal"), anchor: state)]
        let sibling = tokens.appendingPathExtension("journal")
        let places = [here[0].folder.path, sibling.path]
        #expect(JournalLocation.apart(from: tokens, here).map(\.folder.path) == places, "as where the disk is absent")
        let virtual = [JournalLocation(folder: URL(fileURLWithPath: "/proc/journal"), anchor: temporary.url)]
        let first = JournalLocation.apart(from: tokens, virtual).first
        #expect(first?.folder.path == sibling.path, "no file can be stored in /proc")
        let beside = here[0].folder.deletingLastPathComponent().appendingPathComponent("tokens")
        #expect(JournalLocation.apart(from: beside, here).map(\.folder) == [here[0].folder])
        #endif
    }

    @Test func `G30: a journal in the state folder is found while the tokens' disk is absent, and after that`()
        async throws
    {
        let (state, mountPoint) = (temporary.fresh(), temporary.fresh())
        let standard = [JournalLocation(folder: state.appendingPathComponent("journal"), anchor: state)]
        let tokens = mountPoint.appendingPathComponent("tokens")
        for folder in [state, mountPoint] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        }
        _ = try await FileSessionJournal(storeName: "s", account: "a") { standard }.update { _ in self.entry() }
        let journal = FileSessionJournal(storeName: "s", account: "a") {
            JournalLocation.apart(from: tokens, standard)
        }
        #expect(try await journal.read() == entry())
    }

    @Test func `G30: until a journal was found it is looked for each time`() async throws {
        let folders = [temporary.fresh(), temporary.fresh()]
        let shown = Locked(folders)
        let journal = FileSessionJournal(storeName: "s", account: "a") {
            shown.withLock { $0 }.map { JournalLocation(folder: $0, anchor: $0.deletingLastPathComponent()) }
        }
        #expect(try await journal.read() == SessionJournalEntry())
        let other = FileSessionJournal(folder: folders[1], account: "a", storeName: "s")
        _ = try await other.update { _ in self.entry() }
        #expect(try await journal.read() == entry())
        shown.withLock { $0 = [folders[0]] }
        #expect(try await journal.read() == entry(), "where it is once, it stays")
    }

    @Test func `a folder with the journal of another account is not the place of this one`() async throws {
        let (first, second) = (temporary.fresh(), temporary.fresh())
        let locations = [first, second].map { JournalLocation(folder: $0, anchor: temporary.url) }
        for (account, location) in [("b", locations[0]), ("a", locations[1])] {
            let other = FileSessionJournal(storeName: "s", account: account) { [location] }
            _ = try await other.update { _ in self.entry() }
        }
        let journal = FileSessionJournal(storeName: "s", account: "a") { locations }
        #expect(try await journal.read() == entry())
    }

    #if os(Linux)
    @Test func `the journal of tokens in memory is beside them`() throws {
        let tokens = URL(fileURLWithPath: "/dev/shm/latchkey-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: tokens, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: tokens) }
        let device = try #require(FileSystemKind.nearestDevice(to: tokens.path))
        try #require(FileSystemKind(device: device) == .memory, "the kernel's folder for shared memory")
        let state = temporary.fresh()
        let here = [JournalLocation(folder: state.appendingPathComponent("journal"), anchor: state)]
        let paths = JournalLocation.apart(from: tokens, here).map(\.folder.path)
        #expect(paths == [tokens.path + ".journal", here[0].folder.path], "one that is on a disk is found, too")
    }
    #endif

    private func overwrite(_ file: URL, with data: Data) throws {
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: data)
        try handle.close()
    }
}
