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

    @Test func `the first save creates folders of mode 0700 and files of mode 0600`() async throws {
        let deep = folder.appendingPathComponent("one").appendingPathComponent("two")
        let store = FileTokenStore(folder: deep, anchor: temporary.url)
        try await store.save(.numbered(1))
        await (try await store.lease(waitingAtMost: .zero)).release()
        for made in [folder, deep.deletingLastPathComponent(), deep] { #expect(try made.permissions == "700") }
        #expect(try deep.names == ["default.json", "default.json.lease", "default.json.lock"])
        for name in try deep.names { #expect(try deep.appendingPathComponent(name).permissions == "600") }
    }

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
        await store.expectFailures(of: [.read, .save], .insecure, "run: chmod 600 \(store.file.path)")
        #expect(try store.file.permissions == String(mode, radix: 8))
        #expect(try Data(contentsOf: store.file) == before)

        try store.file.setPermissions(0o600)
        #expect(try await store.load() == .numbered(1))
    }

    @Test(arguments: [0o755, 0o710, 0o777])
    func `a wider mode of the folder is refused with the command that fixes it`(mode: Int) async throws {
        try await store.save(.numbered(1))
        try folder.setPermissions(mode)
        await store.expectFailures(of: [.read, .save, .lease], .insecure, "run: chmod 700 \(folder.path)")
        #expect(try folder.permissions == String(mode, radix: 8))
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
        await store.expectFailures(of: [.read, .save, .delete], .insecure, "is a symbolic link")
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

    @Test(arguments: ["pipe", "folder", "socket"])
    func `a file that is not regular is refused without waiting for it`(kind: String) async throws {
        try await store.save(.numbered(1))
        try FileManager.default.removeItem(at: store.file)
        switch kind {
        case "pipe": #expect(mkfifo(store.file.path, 0o600) == 0)
        case "socket": try makeSocket(at: store.file)
        default: try FileManager.default.createDirectory(at: store.file, withIntermediateDirectories: false)
        }
        await store.expectFailures(of: [.read, .save, .delete], .insecure, "is not a regular file")
    }

    @Test(.enabled(if: geteuid() == 0, "only root can chown"))
    func `a file or folder of another user is refused`() async throws {
        try await store.save(.numbered(1))
        let other: uid_t = 65_534
        #expect(chown(store.file.path, other, other) == 0)
        await store.expectFailures(of: [.read, .save, .delete], .insecure, "belongs to user 65534")
        #expect(chown(store.file.path, 0, 0) == 0)
        #expect(chown(folder.path, other, other) == 0)
        await store.expectFailures(of: [.read, .save, .delete], .insecure)
    }

    @Test func `the command in an error works with every path`() async throws {
        let folder = temporary.url.appendingPathComponent("it's here")
        try await FileTokenStore(folder: folder).save(.numbered(1))
        try folder.setPermissions(0o755)
        let error = await storeError { _ = try await FileTokenStore(folder: folder).load() }
        #expect(error?.reason.hasSuffix("chmod 700 '\(temporary.url.path)/it'\\''s here'") == true)
    }

    /// What a group may do, the modes of the folder and of the file, and modes of the folder that are refused.
    private static let groups: [(access: FolderAccess, folder: Int, file: String, wider: [Int])] = [
        (.group, 0o2770, "660", [0o2771, 0o2777, 0o774]), (.readableByGroup, 0o2750, "640", [0o2770, 0o2755]),
    ]

    @Test(arguments: groups)
    func `a store for a group creates what the group may use, and refuses rights of others`(
        row: (access: FolderAccess, folder: Int, file: String, wider: [Int])
    ) async throws {
        let store = FileTokenStore(folder: folder, access: row.access)
        try await store.save(.numbered(1))
        await (try await store.lease(waitingAtMost: .zero)).release()
        let mode = String(row.folder, radix: 8)
        #expect(try folder.permissions == mode && store.file.permissions == row.file)
        #expect(try folder.names == ["default.json", "default.json.lease", "default.json.lock"])
        for name in try folder.names where row.access == .group {
            #expect(try folder.appendingPathComponent(name).permissions == row.file)
        }
        await FileTokenStore(folder: folder).expectFailures(of: [.read], .insecure)
        for wider in row.wider {
            try folder.setPermissions(wider)
            await store.expectFailures(of: [.read], .insecure, "run: chmod \(mode) \(folder.path)")
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can chown"), arguments: groups.map { ($0.access, $0.folder) })
    func `the folder and files of another user are used if they belong to a group of this process`(
        access: FolderAccess, mode: Int
    ) async throws {
        let store = FileTokenStore(folder: folder, access: access)
        try await store.save(.numbered(1))
        for path in [folder.path, store.file.path] { #expect(chown(path, 65_534, getegid()) == 0) }
        try folder.setPermissions(mode)
        #expect(try await store.load() == .numbered(1))
        if access == .group { try await store.save(.numbered(2)) }
        #expect(chown(folder.path, 65_534, 65_533) == 0)
        #expect(await storeError { _ = try await store.read() }?.code == .insecure)
    }

    private func makeSocket(at url: URL) throws {
        // The path of a socket must be short: it is bound with a short name and moved.
        let short = URL(fileURLWithPath: "/tmp/\(UInt32.random(in: 0 ... .max))")
        let descriptor = socket(AF_UNIX, Self.stream, 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: short.path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
        }
        #expect(result == 0)
        try FileManager.default.moveItem(at: short, to: url)
    }

    #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue)
    #else
    private static let stream = SOCK_STREAM
    #endif
}
