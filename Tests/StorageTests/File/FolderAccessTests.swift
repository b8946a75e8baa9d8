import AuthInterface
import Foundation
import Testing

@testable import Storage

@Suite("ST13: a folder that a group shares is used when that is asked for")
struct FolderAccessTests {
    private let temporary: TemporaryFolder
    private let folder: URL

    init() throws {
        temporary = try TemporaryFolder()
        folder = temporary.fresh()
    }

    @Test("A store for a group makes folders of mode 2770 and files of mode 0660")
    func modes() async throws {
        let store = FileTokenStore(folder: folder, access: .group)
        try await store.save(.numbered(1))
        await (try await store.lease(waitingAtMost: .zero)).release()
        #expect(try folder.permissions == "2770")
        #expect(try folder.names == ["default.json", "default.json.lease", "default.json.lock"])
        for name in try folder.names { #expect(try folder.appendingPathComponent(name).permissions == "660") }
        #expect(await storeError { _ = try await FileTokenStore(folder: folder).read() }?.code == .insecure)
    }

    @Test("Rights of users outside the group are refused", arguments: [0o2771, 0o2777, 0o774])
    func others(mode: Int) async throws {
        let store = FileTokenStore(folder: folder, access: .group)
        try await store.save(.numbered(1))
        try folder.setPermissions(mode)
        let error = await storeError { _ = try await store.read() }
        #expect(error?.code == .insecure)
        #expect(error?.reason.hasSuffix("run: chmod 2770 \(folder.path)") == true)
    }

    @Test(
        "The folder and files of another user are used if they belong to a group of this process",
        .enabled(if: geteuid() == 0, "only root can chown")
    )
    func foreignOwner() async throws {
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
