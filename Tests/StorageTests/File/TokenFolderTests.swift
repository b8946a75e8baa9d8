import AuthInterface
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite("A folder whose disk is not mounted is never taken for an empty one", .timeLimit(.minutes(10)))
struct TokenFolderTests: TemporaryStoreTests {
    let place = TemporaryStore()

    @Test(.enabled(if: geteuid() == 0, "only root can chown"), arguments: [0o755, 0o1777])
    func `a folder below one of another user is refused, directly and behind a link`(mode: Int) async throws {
        let (theirs, link) = (temporary.fresh(), temporary.fresh())
        try theirs.makePrivateFolder()
        let mine = theirs.appendingPathComponent("mine")
        try await FileTokenStore(folder: mine.appendingPathComponent("tokens"), anchor: theirs).save(.numbered(1))
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: mine)
        try theirs.setPermissions(mode)
        #expect(chown(theirs.path, 65_533, 65_533) == 0)
        for parent in [mine, link] {
            let store = FileTokenStore(folder: parent.appendingPathComponent("tokens"))
            await store.expectFailures(of: [.load, .save], .insecure, "user 65533 owns \(theirs.path)")
        }
        #expect(chown(theirs.path, 0, 0) == 0)
        #expect(lchown(link.path, 65_533, 65_533) == 0)
        await FileTokenStore(folder: link.appendingPathComponent("tokens")).expectFailures(of: [.load], .insecure)
    }

    #if os(Linux)
    @Test func `in a user namespace the users of the host that have no number there are trusted, and no others`() {
        func isTrusted(_ owner: uid_t, _ users: String) -> Bool {
            FileSafety.isTrusted(owner, users: users, overflow: "65534\n")
        }
        #expect(isTrusted(65_534, "      1000       1000          1\n"))
        #expect(!isTrusted(65_534, "         0          0 4294967295\n"))
        #expect(!isTrusted(65_534, "0 100000 65536\n"))
        #expect(!isTrusted(65_533, "1000 1000 1\n"))
        #expect(!isTrusted(65_534, ""))
    }
    #endif

    @Test func `a used folder that is gone or replaced is unavailable until it is back`() async throws {
        try await store.save(.numbered(1))
        let elsewhere = temporary.fresh()
        for isReplaced in [false, true] {
            try FileManager.default.moveItem(at: folder, to: elsewhere)
            if isReplaced { try folder.makePrivateFolder() }
            await store.expectFailures(.unavailable)
            #expect(FileManager.default.fileExists(atPath: folder.path) == isReplaced)
            if isReplaced { try FileManager.default.removeItem(at: folder) }
            try FileManager.default.moveItem(at: elsewhere, to: folder)
            #expect(try await store.load() == .numbered(1))
        }
    }

    private static let ended = StoredSession.tombstone(
        SessionTombstone(session: SessionID(rawValue: "session-1"), reason: .byUser, date: Date()))

    /// What is stored in the folder that was used and in the one that takes its place, and whether that is a copy of
    /// it.
    typealias Replacement = (used: StoredSession, found: StoredSession, isCopy: Bool)

    private static let replacements: [Replacement] = [
        (.active(.numbered(1)), .active(.numbered(1)), true), (.active(.numbered(1)), .active(.numbered(2)), true),
        (.active(.numbered(2)), .active(.numbered(1)), false), (ended, .active(.numbered(2)), false),
        (.active(.numbered(2)), .active(.numbered(2, of: SessionID(rawValue: "another"))), false),
    ]

    @Test(arguments: replacements)
    func `a copy of the folder is used if its session is as it was or went on`(row: Replacement) async throws {
        let elsewhere = temporary.fresh()
        try await store.update { _ in row.used }
        try await FileTokenStore(folder: elsewhere).update { _ in row.found }
        try FileManager.default.removeItem(at: folder)
        try FileManager.default.moveItem(at: elsewhere, to: folder)
        guard row.isCopy else {
            await store.expectFailures(.unavailable)
            #expect(try await FileTokenStore(folder: folder).read() == row.found)
            return
        }
        #expect(try await store.read() == row.found)
        try await store.save(.numbered(3))
        #expect(try await FileTokenStore(folder: folder).load() == .numbered(3))
        let lease = try await store.lease(waitingAtMost: .zero)
        #expect(!lease.isLost)
        await lease.release()
    }

    @Test func `a folder that was always empty may be replaced, because its disk may have been mounted`() async throws {
        try folder.makePrivateFolder()
        #expect(try await store.read() == .empty)
        try FileManager.default.moveItem(at: folder, to: temporary.fresh())
        try await FileTokenStore(folder: folder).save(.numbered(1))
        #expect(try await store.load() == .numbered(1))
    }

    @Test(arguments: ["tokens", "articles/tokens"])
    func `without its parent or home a folder is unavailable: its disk may be absent`(path: String) async throws {
        let home = temporary.fresh()
        let store = FileTokenStore(folder: home.appendingPathComponent(path), anchor: home)
        await store.expectFailures(.unavailable)
        #expect(try temporary.url.names.isEmpty)
        try home.makePrivateFolder()
        #expect(try await store.load() == nil)
        try await store.expectRoundTrip(of: .numbered(1))
    }

    @Test func `a folder below one that all users can write is refused with the command that fixes it`() async throws {
        let open = temporary.fresh()
        let deep = open.appendingPathComponent("own").appendingPathComponent("tokens")
        try deep.makePrivateFolder()
        let store = FileTokenStore(folder: deep)
        try await store.save(.numbered(1))
        try open.setPermissions(0o777)
        let next = FileTokenStore(folder: deep)
        await next.expectFailures(of: [.load, .update, .lease], .insecure, "run: chmod o-w \(open.path)")
        #expect(try await store.load() == .numbered(1), "each instance has looked once")
        try open.setPermissions(0o1777)
        #expect(try await next.load() == .numbered(1))
        try open.setPermissions(0o777)
        try await FileTokenStore(folder: deep).delete()
        #expect(try await store.read() == .empty)
    }

    @Test func `a folder below one that a group can write is refused, unless the group is its owner's own`() throws {
        let open = temporary.fresh()
        let folder = open.appendingPathComponent("tokens").path
        try open.makePrivateFolder()
        try open.setPermissions(0o775)
        let safety = FileSafety.folder
        #expect(throws: TokenStoreError.self) { try safety.checkParents(of: folder, isPrivateGroup: { _ in false }) }
        try safety.checkParents(of: folder, isPrivateGroup: { _ in true })
        try FileSafety(kind: .folder, access: .group).checkParents(of: folder, isPrivateGroup: { _ in false })
        try open.setPermissions(0o1775)
        try safety.checkParents(of: folder, isPrivateGroup: { _ in false })
    }

    @Test func `root's own group is private, and a group of another name or number is not`() {
        var status = stat()
        (status.st_uid, status.st_gid) = (0, 0)
        #if os(Linux)
        #expect(FileSafety.isPrivateGroup(status))
        #endif
        status.st_gid = 1
        #expect(!FileSafety.isPrivateGroup(status))
        (status.st_uid, status.st_gid) = (4_000_000_000, 4_000_000_000)
        #expect(!FileSafety.isPrivateGroup(status))
    }

    @Test func `processes that sign in at once make one folder, lose no session, and read none or one`() async throws {
        for _ in 1...30 {
            let (home, folder) = (temporary.url, temporary.fresh().appendingPathComponent("one/tokens"))
            // A single fsync of another writer may take the 5 s after which ext4 commits its journal.
            @Sendable func store(_ account: Int) -> FileTokenStore {
                FileTokenStore(folder: folder, account: "\(account % 2)", anchor: home, writeLimit: .seconds(3_600))
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for account in 0..<8 {
                    group.addTask {
                        try await store(account).update { found in
                            let generation = (try? found.get().bundle?.generation) ?? 0
                            return .active(.numbered(generation + 1))
                        }
                    }
                    group.addTask {
                        let found = try await store(account).load()
                        #expect(found == nil || found == .numbered(found?.generation ?? 0))
                    }
                }
                try await group.waitForAll()
            }
            for account in 0..<2 { #expect(try await store(account).load() == .numbered(4)) }
            #expect(try folder.deletingLastPathComponent().names == ["tokens"])
        }
    }

    @Test func `a folder is recognized by its inode and its device or file system`() {
        func isSame(_ known: FolderIdentity, _ device: UInt64, _ inode: UInt64, _ fileSystem: UInt) -> Bool {
            known.isSameFolder(as: FolderIdentity(device: device, inode: inode, fileSystem: fileSystem))
        }
        let known = FolderIdentity(device: 1, inode: 10, fileSystem: 5)
        #expect(isSame(known, 1, 10, 0) && isSame(known, 2, 10, 5))
        #expect(!isSame(known, 2, 10, 6) && !isSame(known, 1, 11, 5))
        #expect(!isSame(FolderIdentity(device: 1, inode: 10, fileSystem: 0), 2, 10, 0), "not named")
    }

    @Test func `the kind of a file system is read from the table of mounts`() {
        let mounts = """
            22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
            31 22 0:26 / /dev/shm rw,nosuid shared:2 master:3 - tmpfs tmpfs rw
            44 22 0:300 / /home rw - nfs4 server:/home rw
            45 22 0:48 / /shared rw - fuse.juicefs shared rw
            """
        #expect(FileSystemKind(device: 254 << 8, mounts: mounts) == .disk)
        #expect(FileSystemKind(device: 26, mounts: mounts) == .memory)
        #expect(FileSystemKind(device: 300 & 0xff | (300 & ~0xff) << 12, mounts: mounts) == .network)
        #expect(FileSystemKind(device: 48, mounts: mounts) == .network, "its server may have other clients")
        #expect(FileSystemKind(device: 99, mounts: mounts) == .disk)
    }
}

@Suite("The default folder of an application", .timeLimit(.minutes(10))) struct TokenFolderLocationTests {
    @Test(
        arguments: [
            ([:], "/ada/.local/state", "/ada"), (["XDG_STATE_HOME": "/state"], "/state", "/state"),
            (["XDG_STATE_HOME": "/ada/.local/state/"], "/ada/.local/state", "/ada"),
            (["XDG_STATE_HOME": "/ada/state"], "/ada/state", "/ada"),
            (["XDG_STATE_HOME": "/ada/disk/state"], "/ada/disk/state", "/ada/disk/state"),
            (["XDG_STATE_HOME": ""], "/ada/.local/state", "/ada"),
            (["XDG_STATE_HOME": "state"], "/ada/.local/state", "/ada"),
            (["XDG_DATA_HOME": "/data"], "/ada/.local/state", "/ada"),
            (["HOME": ""], NSHomeDirectory() + "/.local/state", NSHomeDirectory()),
        ] as [([String: String], String, String)])
    func `an absolute XDG_STATE_HOME is used, else HOME`(variables: [String: String], folder: String, anchor: String) {
        let state = TokenFolderLocation.state(environment: ["HOME": "/ada"].merging(variables) { $1 })
        #expect(state.folder.path == folder && state.anchor.path == anchor)
    }

    @Test(arguments: [
        ("articles", "articles"), ("../articles", "%..%2farticles"), ("", "%"), (".config", "%.config"),
        ("a/b", "a%2fb"), ("a%2fb", "a%252fb"), ("%", "%25"), ("%.config", "%25.config"),
    ])
    func `an application's name is one visible folder, and that of no other`(application: String, name: String) {
        #expect(TokenFolderLocation.folderName(for: application) == name)
    }

    @Test func `the file is in a folder for tokens only, so that its mode affects no other file`() {
        let file = FileTokenStore(application: "articles", account: "ada").file
        #expect(file.path.hasSuffix("/articles/tokens/ada.json"))
    }
}
