import AuthInterface
import Foundation
import ProcessTesting
import Testing

@testable import Storage

#if os(Linux)
/// Whether this process can give others mount namespaces of their own.
private var canMount: Bool {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") } ?? ""
    let capabilities = UInt64(line.split(separator: "\t").last ?? "", radix: 16) ?? 0
    return capabilities >> 21 & 1 == 1 && access("/usr/bin/unshare", X_OK) == 0
}

/// Real disks that go away, in mount namespaces of other processes.
@Suite(
    "ST1, S16: a disk that is away is `unavailable`, and the session is there again when the disk is",
    .enabled(if: canMount, "needs CAP_SYS_ADMIN and unshare(1)")
)
struct AbsentDiskTests {
    private let temporary: TemporaryFolder
    private let mountPoint: URL
    private let home: URL

    init() throws {
        temporary = try TemporaryFolder()
        mountPoint = temporary.url.appendingPathComponent("disk")
        home = temporary.url.appendingPathComponent("home")
        for folder in [mountPoint, home] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        }
    }

    @Test("Unmounted under a running process: unavailable, nothing is made in its place, and it comes back")
    func unmountedWhileRunning() async throws {
        let talker = try talker()
        #expect(try await talker.tell("mount") == "done")
        #expect(try await talker.tell("save") == "0")
        #expect(try await talker.tell("unmount") == "done")
        for command in ["load", "save", "lease", "end", "delete", "overwrite"] {
            let response = try await talker.tell(command) ?? ""
            #expect(response.hasPrefix("unavailable: ") && response.contains("is gone; mount its disk"), "\(response)")
        }
        #expect(try mountPoint.names.isEmpty)
        #expect(try await talker.tell("mount") == "done")
        #expect(try await talker.tell("load") == "0")
        #expect(try await talker.tell("lease") == "leased")
        #expect(try await talker.tell("save") == "1")
    }

    @Test("Absent at the start: unavailable, with a note that says what to do, and it comes back")
    func absentAtStart() async throws {
        let talker = try talker()
        for command in ["mount", "save", "unmount", "restart"] { _ = try await talker.tell(command) }
        let notes = home.appendingPathComponent(".local/state/latchkey/known-folders")
        let note = notes.appendingPathComponent(try #require(try notes.names.first))
        for command in ["load", "overwrite", "lease", "end"] {
            let response = try await talker.tell(command) ?? ""
            #expect(response.hasPrefix("unavailable: ") && response.hasSuffix("run: rm \(note.path)"), "\(response)")
        }
        #expect(try mountPoint.names.isEmpty)
        #expect(try await talker.tell("mount") == "done")
        #expect(try await talker.tell("load") == "0")

        _ = try await talker.tell("unmount")
        _ = try await talker.tell("restart")
        try FileManager.default.removeItem(at: note)
        #expect(try await talker.tell("load") == "none")
    }

    @Test("Another disk at the mount point is not the one that was used")
    func otherDisk() async throws {
        let first = try talker()
        for command in ["mount", "save"] { _ = try await first.tell(command) }
        // The mount of the first process is not there for the second.
        let second = try talker()
        #expect(try await second.tell("load")?.contains("is not the folder that was used before") == true)
        #expect(try await second.tell("overwrite")?.hasPrefix("unavailable: ") == true)
    }

    @Test("A stream of changes does not keep a disk from being unmounted, and ends with it")
    func watchedDisk() async throws {
        #expect(try await talker().tell("watch") == "ended")
    }

    @Test(
        "A missing HOME or XDG_STATE_HOME is `unavailable` to every user, root too, and nothing is saved elsewhere",
        arguments: ["HOME", "XDG_STATE_HOME"]
    )
    func missingHome(variable: String) async throws {
        let application = temporary.url.appendingPathComponent(temporary.url.lastPathComponent)
        let talker = Talker(
            try SpawnedProcess(
                torture: "talk",
                application,
                environment: environment.merging(
                    [variable: "/mnt/gone", "TORTURE_STORE": "application"],
                    uniquingKeysWith: { $1 }
                )
            )
        )
        for command in ["load", "save", "overwrite", "end"] {
            let response = try await talker.tell(command)
            #expect(response == "unavailable: could not find the folder /mnt/gone: No such file or directory")
        }
        #expect(try home.names.isEmpty)
        let passwordEntry = FileManager.default.homeDirectory(forUser: NSUserName())?.path ?? "/root"
        let other = passwordEntry + "/.local/state/" + application.lastPathComponent
        #expect(!FileManager.default.fileExists(atPath: other))
    }

    private var environment: [String: String] {
        var environment = ProcessInfo.processInfo.environment
        environment["XDG_STATE_HOME"] = nil
        environment["HOME"] = home.path
        return environment
    }

    /// A process that can mount the disk. Its mounts end with it.
    private func talker() throws -> Talker {
        let program = SpawnedProcess.buildFolder.appendingPathComponent("StorageTorture").path
        let folder = mountPoint.appendingPathComponent("tokens").path
        return Talker(
            try SpawnedProcess("/usr/bin/unshare", ["--mount", program, "talk", folder], environment: environment)
        )
    }
}
#endif
