import AuthInterface
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite("A file that other users could read or replace is refused and not changed")
struct FileTokenStoreSafetyTests {
    private let temporary: TemporaryFolder
    private let folder: URL
    private let store: FileTokenStore

    init() throws {
        temporary = try TemporaryFolder()
        folder = temporary.fresh()
        store = FileTokenStore(folder: folder)
    }

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
        #expect(await failedLease()?.code == .unavailable)
        #expect(try temporary.url.names.isEmpty)
    }

    @Test(arguments: [0o644, 0o640, 0o602])
    func `a wider mode of the file is refused with the command that fixes it`(mode: Int) async throws {
        try await store.save(.numbered(1))
        try store.file.setPermissions(mode)
        let before = try Data(contentsOf: store.file)
        for error in [await failedLoad(), await failedSave()] {
            #expect(error?.code == .insecure)
            #expect(error?.reason.hasSuffix("run: chmod 600 \(store.file.path)") == true)
        }
        #expect(try store.file.permissions == String(mode, radix: 8))
        #expect(try Data(contentsOf: store.file) == before)

        try store.file.setPermissions(0o600)
        #expect(try await store.load() == .numbered(1))
    }

    @Test(arguments: [0o755, 0o710, 0o777])
    func `a wider mode of the folder is refused with the command that fixes it`(mode: Int) async throws {
        try await store.save(.numbered(1))
        try folder.setPermissions(mode)
        for error in [await failedLoad(), await failedSave(), await failedLease()] {
            #expect(error?.code == .insecure)
            #expect(error?.reason.hasSuffix("run: chmod 700 \(folder.path)") == true)
        }
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
        for error in [await failedLoad(), await failedSave(), await failedDelete()] {
            #expect(error?.code == .insecure)
            #expect(error?.reason.contains("is a symbolic link") == true)
        }
        #expect(FileManager.default.fileExists(atPath: elsewhere.path) == !dangles)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: store.file.path) == elsewhere.path)
    }

    @Test func `a symbolic link in place of the folder is refused`() async throws {
        try await store.save(.numbered(1))
        let link = temporary.fresh()
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder)
        let linked = FileTokenStore(folder: link)
        let calls: [() async throws -> Void] = [
            { _ = try await linked.load() }, { try await linked.save(.numbered(2)) }, { try await linked.delete() },
        ]
        for call in calls {
            let error = await storeError(of: call)
            #expect(error?.code == .insecure)
            #expect(error?.reason.contains("\(link.path) is a symbolic link") == true)
        }
        #expect(try await store.load() == .numbered(1))
    }

    @Test(arguments: ["lock", "lease"])
    func `a symbolic link in place of a lock file is refused`(suffix: String) async throws {
        try await store.save(.numbered(1))
        let lock = store.file.appendingPathExtension(suffix)
        try? FileManager.default.removeItem(at: lock)
        try FileManager.default.createSymbolicLink(at: lock, withDestinationURL: temporary.fresh())
        #expect(await (suffix == "lock" ? failedSave() : failedLease())?.code == .insecure)
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
        for error in [await failedLoad(), await failedSave(), await failedDelete()] {
            #expect(error?.code == .insecure)
            #expect(error?.reason.contains("is not a regular file") == true)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can chown"))
    func `a file or folder of another user is refused`() async throws {
        try await store.save(.numbered(1))
        let other: uid_t = 65_534
        #expect(chown(store.file.path, other, other) == 0)
        for error in [await failedLoad(), await failedSave(), await failedDelete()] {
            #expect(error?.code == .insecure)
            #expect(error?.reason.contains("belongs to user 65534") == true)
        }
        #expect(chown(store.file.path, 0, 0) == 0)
        #expect(chown(folder.path, other, other) == 0)
        for error in [await failedLoad(), await failedSave(), await failedDelete()] {
            #expect(error?.code == .insecure)
        }
    }

    @Test func `the command in an error works with every path`() async throws {
        let folder = temporary.url.appendingPathComponent("it's here")
        try await FileTokenStore(folder: folder).save(.numbered(1))
        try folder.setPermissions(0o755)
        let error = await storeError { _ = try await FileTokenStore(folder: folder).load() }
        #expect(error?.reason.hasSuffix("chmod 700 '\(temporary.url.path)/it'\\''s here'") == true)
    }

    private func failedLoad() async -> (code: TokenStoreError.Code, reason: String)? {
        await storeError { _ = try await store.load() }
    }

    private func failedSave() async -> (code: TokenStoreError.Code, reason: String)? {
        await storeError { try await store.save(.numbered(2)) }
    }

    private func failedDelete() async -> (code: TokenStoreError.Code, reason: String)? {
        await storeError { try await store.delete() }
    }

    private func failedLease() async -> (code: TokenStoreError.Code, reason: String)? {
        await storeError { _ = try await store.lease(waitingAtMost: .zero) }
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
