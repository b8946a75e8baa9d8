import AuthInterface
import Foundation
import Testing

@testable import Storage

@Suite("A folder that a group shares is used if the configuration says so")
struct FolderAccessTests {
    private let temporary: TemporaryFolder
    private let folder: URL

    init() throws {
        temporary = try TemporaryFolder()
        folder = temporary.fresh()
    }

    @Test func `a store for a group creates folders of mode 2770 and files of mode 0660`() async throws {
        let store = FileTokenStore(folder: folder, access: .group)
        try await store.save(.numbered(1))
        await (try await store.lease(waitingAtMost: .zero)).release()
        #expect(try folder.permissions == "2770")
        #expect(try folder.names == ["default.json", "default.json.lease", "default.json.lock"])
        for name in try folder.names { #expect(try folder.appendingPathComponent(name).permissions == "660") }
        #expect(await storeError { _ = try await FileTokenStore(folder: folder).read() }?.code == .insecure)
    }

    @Test(arguments: [0o2771, 0o2777, 0o774])
    func `rights of users outside the group are refused`(mode: Int) async throws {
        let store = FileTokenStore(folder: folder, access: .group)
        try await store.save(.numbered(1))
        try folder.setPermissions(mode)
        let error = await storeError { _ = try await store.read() }
        #expect(error?.code == .insecure)
        #expect(error?.reason.hasSuffix("run: chmod 2770 \(folder.path)") == true)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can chown"))
    func `the folder and files of another user are used if they belong to a group of this process`() async throws {
        let store = FileTokenStore(folder: folder, access: .group)
        try await store.save(.numbered(1))
        for path in [folder.path, store.file.path] { #expect(chown(path, 65_534, getegid()) == 0) }
        try folder.setPermissions(0o2770)
        #expect(try await store.load() == .numbered(1))
        try await store.save(.numbered(2))
        #expect(chown(folder.path, 65_534, 65_533) == 0)
        #expect(await storeError { _ = try await store.read() }?.code == .insecure)
    }
}
