import AuthInterface
import Foundation
import TestSupport
import Testing

@testable import Storage

/// What a process makes is complete when others see it, whatever its umask, and when it is killed in between.
@Suite("Folders and locks have their modes before they have their names", .timeLimit(.minutes(10)))
struct UnfinishedFolderTests {
    private let temporary = TemporaryFolder()

    @Test(arguments: ["0277", "0777"])
    func `a umask takes no right of the owner from a folder or a lock`(umask: String) async throws {
        let application = temporary.url.lastPathComponent
        let process = try StorageDialogue(
            URL(fileURLWithPath: "/" + application), home: temporary.url.path, ["STORE": "application"],
            through: ["/bin/sh", "-c", "umask \(umask); exec \"$0\" \"$@\""])
        try await process.expect(["save": "0", "lease": "leased", "save": "1", "lease": "leased", "load": "1"])
        var folder = temporary.url
        for name in [".local", "state", application, "tokens"] {
            folder.appendPathComponent(name)
            #expect(try folder.permissions == "700")
        }
        #expect(try folder.names == ["default.json", "default.json.lease", "default.json.lock"])
        for name in try folder.names { #expect(try folder.appendingPathComponent(name).permissions == "600") }
    }

    @Test func `what a process has left that was killed before it set the mode is completed`() async throws {
        let folder = temporary.fresh()
        let half = URL(fileURLWithPath: folder.path + ".new")
        try half.appendingPathComponent("default.json.lock").writePrivately(Data())
        try half.setPermissions(0o750)
        try await FileTokenStore(folder: folder, access: .group).save(.numbered(1))
        #expect(try folder.permissions == "2770")

        let parent = temporary.fresh()
        try URL(fileURLWithPath: parent.path + ".tmp").makePrivateFolder()
        try URL(fileURLWithPath: parent.path + ".tmp").setPermissions(0)
        _ = try PrivateFolder.openOrCreate(parent.appendingPathComponent("deep").path)
        #expect(try parent.permissions == "700")
        #expect(try temporary.url.names.sorted() == [folder, parent].map(\.lastPathComponent).sorted())
    }
}
