import AuthInterface
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite(
    "A file that other users could read or replace is refused and not changed, and a group's if it is configured",
    .timeLimit(.minutes(10)))
struct FileTokenStoreSafetyTests: TemporaryStoreTests {
    let place = TemporaryStore()

    @Test func `a load, a delete, a lease or an update without a session creates no folder`() async throws {
        #expect(try await store.load() == nil)
        try await store.delete()
        try await store.update { _ in nil }
        try await store.update { _ in .empty }
        await store.expectFailures(of: [.lease], .unavailable)
        #expect(try temporary.url.names.isEmpty)
    }

    @Test(arguments: [0o644, 0o640, 0o602])
    func `a wider mode of the file is refused with the command that fixes it`(mode: Int) async throws {
        try await store.save(.numbered(1))
        try store.file.setPermissions(mode)
        let before = try Data(contentsOf: store.file)
        await store.expectFailures(of: [.load, .save], .insecure, "run: chmod 600 \(store.file.path)")
        #expect(try store.file.permissions == String(mode, radix: 8))
        #expect(try Data(contentsOf: store.file) == before)

        try store.file.setPermissions(0o600)
        #expect(try await store.load() == .numbered(1))
    }

    @Test func `a delete removes the tokens even if the modes are wrong`() async throws {
        try await store.save(.numbered(1))
        try store.file.setPermissions(0o644)
        try folder.setPermissions(0o755)
        try await store.delete()
        #expect(!FileManager.default.fileExists(atPath: store.file.path))
    }

    @Test(arguments: [true, false])
    func `a symbolic link in place of the file is refused, even one without a target`(dangles: Bool) async throws {
        try await store.save(.numbered(1))
        let elsewhere = temporary.fresh()
        if dangles {
            try FileManager.default.removeItem(at: store.file)
        } else {
            try FileManager.default.moveItem(at: store.file, to: elsewhere)
        }
        try FileManager.default.createSymbolicLink(at: store.file, withDestinationURL: elsewhere)
        await store.expectFailures(of: [.load, .save, .delete], .insecure, "is a symbolic link")
        #expect(FileManager.default.fileExists(atPath: elsewhere.path) == !dangles)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: store.file.path) == elsewhere.path)
    }

    @Test func `a symbolic link in place of the folder is refused`() async throws {
        try await store.save(.numbered(1))
        let link = temporary.fresh()
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder)
        await FileTokenStore(folder: link).expectFailures(.insecure, "\(link.path) is a symbolic link")
        #expect(try await store.load() == .numbered(1))
    }

    @Test(arguments: ["lock", "lease"])
    func `a symbolic link in place of a lock file is refused`(suffix: String) async throws {
        try await store.save(.numbered(1))
        let lock = store.file.appendingPathExtension(suffix)
        try? FileManager.default.removeItem(at: lock)
        try FileManager.default.createSymbolicLink(at: lock, withDestinationURL: temporary.fresh())
        await store.expectFailures(of: [suffix == "lock" ? .save : .lease], .insecure)
    }

    #if os(Linux)
    private static let kinds = [S_IFIFO, S_IFDIR, S_IFSOCK]
    #else
    private static let kinds = [S_IFIFO, S_IFDIR]  // only root can make a socket by this call
    #endif

    @Test(arguments: kinds)
    func `a file that is not regular is refused without waiting for it`(kind: mode_t) async throws {
        try await store.save(.numbered(1))
        try FileManager.default.removeItem(at: store.file)
        let path = store.file.path
        try #require((kind == S_IFDIR ? mkdir(path, 0o700) : mknod(path, kind | 0o600, 0)) == 0)
        await store.expectFailures(of: [.load, .save, .delete], .insecure, "is not a regular file")
    }

    @Test(.enabled(if: geteuid() == 0, "only root can chown"))
    func `a file or folder of another user is refused`() async throws {
        try await store.save(.numbered(1))
        let other: uid_t = 65_534
        #expect(chown(store.file.path, other, other) == 0)
        await store.expectFailures(of: [.load, .save, .delete], .insecure, "belongs to user 65534")
        #expect(chown(store.file.path, 0, 0) == 0)
        #expect(chown(folder.path, other, other) == 0)
        await store.expectFailures(of: [.load, .save, .delete], .insecure)
    }

    @Test func `the command in an error works with every path`() async throws {
        let folder = temporary.url.appendingPathComponent("it's here")
        try await FileTokenStore(folder: folder).save(.numbered(1))
        try folder.setPermissions(0o755)
        let error = await storeError { _ = try await FileTokenStore(folder: folder).load() }
        #expect(error?.reason.hasSuffix("chmod 700 '\(temporary.url.path)/it'\\''s here'") == true)
    }

    /// What a group may do, the modes of the folder and of the file, and modes of the folder that are refused.
    typealias Row = (access: FolderAccess, folder: Int, file: String, wider: [Int])

    private static let accesses: [Row] = [
        (.owner, 0o700, "600", [0o755, 0o710, 0o777]), (.group, 0o2770, "660", [0o2771, 0o2777, 0o774]),
        (.readableByGroup, 0o2750, "640", [0o2770, 0o2755]),
    ]

    @Test(arguments: accesses)
    func `a store creates what its owner or group may use, and an error fixes a wider mode`(row: Row) async throws {
        let store = FileTokenStore(folder: folder, access: row.access)
        try await store.save(.numbered(1))
        await (try await store.lease(waitingAtMost: .zero)).release()
        let mode = String(row.folder, radix: 8)
        #expect(try folder.permissions == mode && store.file.permissions == row.file)
        #expect(try folder.names == ["default.json", "default.json.lease", "default.json.lock"])
        for name in try folder.names where row.access != .readableByGroup {
            #expect(try folder.appendingPathComponent(name).permissions == row.file)
        }
        if row.access != .owner { await FileTokenStore(folder: folder).expectFailures(of: [.load], .insecure) }
        for wider in row.wider {
            try folder.setPermissions(wider)
            let calls: [StoreCall] = row.access == .owner ? [.load, .save, .lease] : [.load]
            await store.expectFailures(of: calls, .insecure, "run: chmod \(mode) \(folder.path)")
            #expect(try folder.permissions == String(wider, radix: 8))
        }
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root can chown"),
        arguments: accesses.dropFirst().map { ($0.access, $0.folder) })
    func `another user's files are used if they are of a group of ours`(access: FolderAccess, mode: Int) async throws {
        let store = FileTokenStore(folder: folder, access: access)
        try await store.save(.numbered(1))
        for path in [folder.path, store.file.path] { #expect(chown(path, 65_534, getegid()) == 0) }
        try folder.setPermissions(mode)
        #expect(try await store.load() == .numbered(1))
        if access == .group { try await store.save(.numbered(2)) }
        #expect(chown(folder.path, 65_534, 65_533) == 0)
        #expect(await storeError { _ = try await store.read() }?.code == .insecure)
    }
}
