import AuthInterface
import Foundation
import TestSupport
import Testing

#if os(Linux)
/// Whether this process can create mount namespaces.
private var canMount: Bool {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") } ?? ""
    let capabilities = UInt64(line.split(separator: "\t").last ?? "", radix: 16) ?? 0
    return capabilities >> 21 & 1 == 1 && access("/usr/bin/unshare", X_OK) == 0
}

/// Real disks that are mounted and unmounted, in mount namespaces of other processes.
@Suite(
    "S16: a disk that is not mounted is unavailable, and the session is available again when the disk is",
    .enabled(if: canMount, "needs CAP_SYS_ADMIN and unshare(1)"), .timeLimit(.minutes(10)))
struct AbsentDiskTests {
    private let temporary: TemporaryFolder
    private let mountPoint: URL
    private let home: URL

    init() throws {
        temporary = TemporaryFolder()
        mountPoint = temporary.url.appendingPathComponent("disk")
        home = temporary.url.appendingPathComponent("home")
        for folder in [mountPoint, home] { try folder.makePrivateFolder() }
    }

    @Test func `a disk that is unmounted while in use is unavailable until it is mounted again`() async throws {
        let process = try dialogue()
        try await process.expect(["mount": "done", "save": "0", "unmount": "done"])
        try await process.expectUnavailable(
            ["load", "save", "lease", "end", "delete", "overwrite"], containing: "is gone; mount its disk")
        #expect(try mountPoint.names.isEmpty)
        try await process.expect(["mount": "done", "load": "0", "lease": "leased", "save": "1"])
    }

    @Test func `a disk that is absent at the start is unavailable, and the error says what to do`() async throws {
        let process = try dialogue()
        for command in ["mount", "save", "unmount", "restart"] { _ = try await process.send(command) }
        let notes = home.appendingPathComponent(".local/state/latchkey/known-folders")
        let note = notes.appendingPathComponent(try #require(try notes.names.first))
        try await process.expectUnavailable(["load", "overwrite", "lease", "end"], ending: "run: rm \(note.path)")
        #expect(try mountPoint.names.isEmpty)
        try await process.expect(["mount": "done", "load": "0"])

        _ = try await process.send("unmount")
        _ = try await process.send("restart")
        try FileManager.default.removeItem(at: note)
        #expect(try await process.send("load") == "none")
    }

    @Test func `another disk at the mount point is unavailable`() async throws {
        let first = try dialogue()
        for command in ["mount", "save"] { _ = try await first.send(command) }
        // The second process does not see the mount of the first.
        let second = try dialogue()
        try await second.expectUnavailable(["load", "overwrite"], containing: "is not the folder that was used before")
    }

    @Test func `on a full disk a sign-out removes the tokens, and its reason can be read`() async throws {
        let process = try dialogue()
        try await process.expect(["mount small": "done", "save": "0", "fill": "true"])
        #expect(try await process.send("save")?.hasPrefix("unavailable: could not write") == true)
        try await process.expect(["reason": "active", "end": "done", "reason": "\(SignOutReason.byUser)"])
    }

    /// S29, SE1: the journal may be on the same disk.
    @Test func `on a full disk a sign-in removes the tokens of the session that it ends`() async throws {
        let process = try dialogue()
        try await process.expect(
            ["mount small": "done", "save": "0", "fill": "true", "overwrite": "done", "load": "100"])
    }

    @Test func `a stream of changes does not prevent unmounting a disk, and ends then`() async throws {
        #expect(try await dialogue().send("watch") == "ended")
    }

    @Test(arguments: ["HOME", "XDG_STATE_HOME"])
    func `a missing HOME or XDG_STATE_HOME is unavailable, and nothing is saved elsewhere`(name: String) async throws {
        let application = temporary.url.appendingPathComponent(temporary.url.lastPathComponent)
        let process = try StorageDialogue(application, home: home.path, [name: "/mnt/gone", "STORE": "application"])
        try await process.expectUnavailable(
            ["load", "save", "overwrite", "end"],
            beginning: "could not find the folder /mnt/gone: No such file or directory; ",
            ending: "; mount its disk, or run: mkdir -p -m 700 /mnt/gone")
        #expect(try home.names.isEmpty)
        let passwordEntry = FileManager.default.homeDirectory(forUser: NSUserName())?.path ?? "/root"
        let other = passwordEntry + "/.local/state/" + application.lastPathComponent
        #expect(!FileManager.default.fileExists(atPath: other))
    }

    /// Starts a process that can mount the disk. Its mounts end with it.
    private func dialogue() throws -> StorageDialogue {
        let folder = mountPoint.appendingPathComponent("tokens")
        return try StorageDialogue(folder, home: home.path, through: ["/usr/bin/unshare", "--mount"])
    }
}
#endif
