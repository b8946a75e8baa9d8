import AuthInterface
import ConcurrencyPrimitives
import Foundation
import TestSupport
import Testing

@testable import Storage

/// A journal with a sign-out that the store has not taken: read as empty, the user would be signed in again.
@Suite("G14, G30: a journal that cannot be read is unavailable or corrupt, never empty", .timeLimit(.minutes(10)))
struct JournalFaultTests {
    private let temporary = TemporaryFolder()
    private let disk: URL
    private let folder: URL
    private let known: KnownFolders

    init() throws {
        disk = temporary.fresh()
        folder = disk.appendingPathComponent("journal")
        known = KnownFolders(stateFolder: temporary.fresh().path, isDurable: { _ in true })
        for folder in [disk, URL(fileURLWithPath: known.stateFolder)] { try folder.makePrivateFolder() }
    }

    /// The journal, in a folder on the disk or in one that is preferred; as a new process has it.
    private func journal(_ account: String = "ada", writeLimit: Duration = TokenFile.writeLimit) -> FileSessionJournal {
        let preferred = temporary.url.appendingPathComponent("preferred")
        let locations = [(preferred, temporary.url), (folder, disk)].map { JournalLocation(folder: $0, anchor: $1) }
        return FileSessionJournal(storeName: "store", account: account, known: known, writeLimit: writeLimit) {
            locations
        }
    }

    private var signOut: PendingSignOut {
        PendingSignOut(upTo: SessionOrdinal(at: date), reason: .byUser, date: date)
    }

    private let date = Date(timeIntervalSince1970: 1)

    /// Notes a sign-out in the folder on the disk.
    private func noteSignOut(_ account: String = "ada") async throws {
        let journal = FileSessionJournal(folder: folder, account: account, storeName: "store")
        try await journal.update { [signOut] _ in SessionJournalEntry(pending: signOut) }
    }

    private var key: URL { folder.appendingPathComponent("key") }

    enum Fault: CaseIterable, Sendable {
        case diskIsAbsent, mountPointIsEmpty, diskIsAFile, diskLinksToItself
        case keyIsGone, keyIsEmpty, keyIsCut, keyIsTooLong, entryIsEmpty, entryIsTooLong
        case keyIsAPipe, keyIsADevice, entryIsALink, entryIsOpenToOthers

        var code: TokenStoreError.Code {
            switch self {
            case .diskIsAbsent, .mountPointIsEmpty, .diskIsAFile, .diskLinksToItself: .unavailable
            case .keyIsGone, .keyIsEmpty, .keyIsCut, .keyIsTooLong, .entryIsEmpty, .entryIsTooLong: .corrupt
            case .keyIsAPipe, .keyIsADevice, .entryIsALink, .entryIsOpenToOthers: .insecure
            }
        }

        var isOfEntry: Bool { self == .entryIsEmpty || self == .entryIsTooLong }
    }

    private func apply(_ fault: Fault) throws {
        let (entry, elsewhere, manager) = (try folder.journalFile, temporary.fresh(), FileManager.default)
        func resize(_ file: URL, to size: Int) { #expect(truncate(file.path, off_t(size)) == 0) }
        switch fault {
        case .mountPointIsEmpty:
            known.record(try PrivateFolder.existing(folder, onDevice: 1 << 40))
            try manager.moveItem(at: folder, to: elsewhere)
        case .diskIsAbsent, .diskIsAFile, .diskLinksToItself:
            try manager.moveItem(at: disk, to: elsewhere)
            if fault == .diskIsAFile { try Data().write(to: disk) }
            if fault == .diskLinksToItself { #expect(symlink(disk.path, disk.path) == 0) }
        case .keyIsGone: try manager.removeItem(at: key)
        case .keyIsEmpty: resize(key, to: 0)
        case .keyIsCut: resize(key, to: KeyedHash.keySize + 5)
        case .keyIsTooLong: resize(key, to: JournalKey.sizeLimit + 1)
        case .entryIsEmpty: resize(entry, to: 0)
        case .entryIsTooLong: resize(entry, to: 1 << 20)
        case .keyIsAPipe:
            try manager.removeItem(at: key)
            #expect(mkfifo(key.path, 0o600) == 0)
        case .keyIsADevice:
            try manager.removeItem(at: key)
            try manager.createSymbolicLink(atPath: key.path, withDestinationPath: "/dev/zero")
        case .entryIsALink:
            try manager.moveItem(at: entry, to: elsewhere)
            try manager.createSymbolicLink(at: entry, withDestinationURL: elsewhere)
        case .entryIsOpenToOthers: try entry.setPermissions(0o644)
        }
    }

    @Test(arguments: Fault.allCases)
    func `a sign-out that is noted is not forgotten, whatever is the matter with the place`(fault: Fault) async throws {
        try await noteSignOut()
        #expect(try await journal().read().pending == signOut)
        try apply(fault)
        let failure = await storeError { _ = try await journal().read() }
        #expect(failure?.code == fault.code)
        if fault == .keyIsGone { #expect(failure?.reason.contains("rm -r ") == true) }
        let given = Locked<Result<SessionJournalEntry, TokenStoreError>?>(nil)
        let error = await storeError {
            try await journal().update { found in
                given.withLock { $0 = found }
                return nil
            }
        }
        #expect(error?.code == fault.code)
        #expect(given.withLock { $0 != nil } == fault.isOfEntry, "only a damaged entry can be replaced")
        guard fault.isOfEntry else { return }
        let next = SessionJournalEntry(seen: SessionSighting(session: SessionID(rawValue: "2")))
        try await journal().update { _ in next }
        #expect(try await journal().read() == next)
    }

    @Test(arguments: [false, true])
    func `an update whose lock or folder is taken away meanwhile says so`(isFolder: Bool) async throws {
        try await noteSignOut()
        let (folder, away) = (folder, temporary.fresh())
        let lock = try folder.journalFile.appendingPathExtension("lock")
        // The state folder is on another device: what is stored on this one is asked for between lock and write.
        let known = KnownFolders(stateFolder: "/dev") { _ in
            if isFolder { try? FileManager.default.moveItem(at: folder, to: away) }
            return false
        }
        let location = JournalLocation(folder: folder, anchor: disk)
        let journal = FileSessionJournal(storeName: "store", account: "ada", known: known) { [location] }
        let error = await storeError {
            try await journal.update { _ in
                if !isFolder { try? FileManager.default.removeItem(at: lock) }
                return SessionJournalEntry(seen: SessionSighting(session: SessionID(rawValue: "2")))
            }
        }
        #expect(error?.code == .unavailable)
        if !isFolder { #expect(try await self.journal().read().pending == signOut, "nothing is written") }
    }

    @Test func `S19: any flipped bit of an entry or of the key is noticed`() async throws {
        try await noteSignOut()
        for file in [try folder.journalFile, key] {
            let content = try Data(contentsOf: file)
            for bit in 0..<content.count * 8 {
                var damaged = content
                damaged[bit / 8] ^= 1 << (bit % 8)
                try file.writePrivately(damaged)
                #expect(await storeError { _ = try await journal().read() }?.code == .corrupt, "bit \(bit)")
            }
            try file.writePrivately(content)
        }
        #expect(try await journal().read().pending == signOut)
    }

    @Test func `the journal of an earlier version is read, and that version then reads an error`() async throws {
        for account in ["ada", "bob"] { try await noteSignOut(account) }
        // That version wrote no checksum.
        try key.writePrivately(Data(contentsOf: key).prefix(KeyedHash.keySize))
        #expect(try await journal().read().pending == signOut)
        #expect(try await journal("eve").read().isEmpty, "an account that the earlier version has not seen")
        try await journal().update { entry in
            let pending = try? entry.get().pending
            return SessionJournalEntry(seen: SessionSighting(session: SessionID(rawValue: "2")), pending: pending)
        }
        #expect(try await journal("bob").read().pending == signOut)
        #expect(try await journal("eve").read().isEmpty)
        #expect(try PrivateFolder.existing(folder).read("key", atMost: KeyedHash.keySize) == .tooLarge)
    }

    @Test func `no account waits for the journal of another one`() async throws {
        for account in ["ada", "bob"] { try await noteSignOut(account) }
        let opened = try PrivateFolder.existing(folder)
        let content = try #require(JournalKey(try Data(contentsOf: key)))
        let locks = try ["journals.lock", content.fileName(of: "store\0ada") + ".lock"].map { try opened.tryLock($0) }
        try await journal("bob", writeLimit: .zero).update { _ in SessionJournalEntry() }
        let error = await storeError {
            try await journal("ada", writeLimit: .zero).update { _ in SessionJournalEntry() }
        }
        #expect(error?.code == .busy)
        for lock in locks { lock?.release() }
    }

    #if os(Linux)
    @Test(
        .enabled(if: access("/usr/bin/strace", X_OK) == 0, "needs strace(1), which makes calls fail"),
        arguments: ["EIO", "EACCES"])
    func `no call that fails makes a journal empty, nor do all of them`(error: String) async throws {
        let home = temporary.fresh()
        try home.makePrivateFolder()
        try await noteSignOut()
        let files = try folder.names.map { folder.appendingPathComponent($0) }
        let paths = ([folder, disk, temporary.url, home] + files).map(\.path) + [folder.path + ".preferred", "/"]
        let tracer = ["/usr/bin/strace", "-f", "-qq", "-o", "/dev/null"] + paths.flatMap { ["-P", $0] }
        for calls in (1...32).map({ "\($0)" }) + ["1+"] {
            let fault = "inject=%file,%desc:error=\(error):when=\(calls)"
            let process = try StorageDialogue(folder, home: home.path, through: tracer + ["-e", fault])
            let answer = try await process.send("noted") ?? "the process has ended"
            let isKept = ["noted", "unavailable:", "corrupt:"].contains { answer.hasPrefix($0) }
            #expect(isKept && (answer != "noted" || calls != "1+"), "call \(calls): \(answer)")
        }
    }
    #endif
}
