import AuthInterface
import AuthTesting
import DataAPI
import DevBackend
import Foundation
import NetworkCore
import ProgramTesting
import Storage
import Testing
import TokenRefresh

extension Scenarios {
    /// S16 and S21: stores that are away, and stores that can be read and not written.
    @Suite struct StoreScenarios {
        @Test("S21: a store that cannot be written: no refresh call at all; after a kill and a cure one refresh")
        func readOnly() async throws {
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            let faulty = FaultyTokenStore(FileTokenStore(folder: folder.tokens))
            try await Stage.play(
                1, store: { _ in faulty },
                {
                    $0.policy = .impatient
                    $0.clock = ManualTimeSource()
                }
            ) { stages in
                let stage = stages[0]
                faulty.fail(.record)
                try await stage.backend.expireAccessTokens()
                let failures = await stage.sendAll(20).compactMap(\.self)
                #expect(failures.count == 20)
                #expect(failures.allSatisfy { $0.authentication?.code == .storeUnavailable })
                #expect(stage.backend.statistics.refreshes == .init())
                #expect(stage.events.endings == [])

                // A kill: the engine is never used again. The next process finds a store that can be written.
                let next = Stage(stage.backend, stage.setup, store: FileTokenStore(folder: folder.tokens))
                let later = await next.sendAll(20).compactMap(\.self)
                next.report("S21", failures: failures.count + later.count)
                #expect(later.isEmpty, "\(later)")
                #expect(stage.backend.statistics.refreshes == .init(received: 1, committed: 1))
                #expect(next.events.endings == [])
            }
        }

        #if os(Linux)
        @Test(
            "S21: a token folder on a disk that is mounted read-only, with the real program",
            .enabled(if: Disk.canMount, "needs root and mount(8)"))
        func readOnlyDisk() async throws {
            let disk = try await Disk()
            try await disk.use { disk in
                try await Desk.play("S21 read-only disk", in: disk.folder) { desk in
                    try await desk.backend.expireAccessTokens()
                    try await disk.remount("ro")
                    for _ in 0..<2 {
                        let run = try await desk.run("list")
                        #expect(run.status == 74, "\(run.errors)")
                    }
                    #expect(desk.backend.statistics.refreshes == .init())
                    try await disk.remount("rw")
                    let run = try await desk.run("list")
                    #expect(run.status == 0, "\(run.errors)")
                    #expect(desk.backend.statistics.refreshes == .init(received: 1, committed: 1))
                }
            }
        }

        @Test(
            "S16: the token folder's disk is unmounted while running: unavailable, and the session is there again with it",
            .enabled(if: Disk.canMount, "needs root and mount(8)"))
        func unmountedWhileRunning() async throws {
            let clock = ManualTimeSource()
            let disk = try await Disk()
            try await disk.use { disk in
                try await Stage.play(
                    1, store: { _ in FileTokenStore(folder: disk.folder) },
                    {
                        $0.policy = .impatient
                        $0.clock = clock
                    }
                ) { stages in
                    let stage = stages[0]
                    try await disk.unmount()
                    // A valid token needs no disk.
                    #expect(await stage.sendAll(20).allSatisfy { $0 == nil })
                    try await stage.backend.expireAccessTokens()
                    let failures = await stage.sendAll(20).compactMap(\.self)
                    #expect(failures.count == 20)
                    #expect(failures.allSatisfy { $0.authentication?.code == .storeUnavailable })
                    #expect(stage.backend.statistics.refreshes == .init())
                    #expect(stage.events.endings == [])

                    try await disk.mount()
                    clock.advance(by: .seconds(1))
                    let later = await stage.sendAll(20).compactMap(\.self)
                    stage.report("S16 unmounted while running", failures: failures.count + later.count)
                    #expect(later.isEmpty, "\(later)")
                    #expect(stage.backend.statistics.refreshes == .init(received: 1, committed: 1))
                    #expect(stage.events.endings == [])
                }
            }
        }

        @Test(
            "S16: the disk is absent when the program starts: unavailable, and signed in again with it",
            .enabled(if: Disk.canMount, "needs root and mount(8)"))
        func absentAtStart() async throws {
            let disk = try await Disk()
            try await disk.use { disk in
                try await Desk.play("S16 absent at start", in: disk.folder) { desk in
                    try await disk.unmount()
                    for command in ["list", "status"] {
                        let run = try await desk.run(command)
                        #expect(run.status == 74, "\(command): \(run.output)\(run.errors)")
                    }
                    try await disk.mount()
                    let run = try await desk.run("list")
                    #expect(run.status == 0, "\(run.errors)")
                    #expect(desk.backend.statistics.socialLogins == 1)
                }
            }
        }
        #endif
    }
}

#if os(Linux)
/// A folder that is mounted at another place, so that it can be unmounted without losing its content.
private struct Disk: Sendable {
    /// Whether this process may mount.
    static var canMount: Bool {
        geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/mount")
    }

    private struct Failure: Error {
        let command: String
    }

    private let temporary: TemporaryFolder
    private var content: URL { temporary.url.appendingPathComponent("content") }
    private var mountPoint: URL { temporary.url.appendingPathComponent("disk") }

    /// The folder of a file store on the disk, which the first sign-in makes.
    var folder: URL { mountPoint.appendingPathComponent("state/tokens") }

    init() async throws {
        temporary = try TemporaryFolder()
        for folder in [content.appendingPathComponent("state"), mountPoint] {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        try await mount()
    }

    /// Does something with the disk, and removes it.
    func use(_ body: (Disk) async throws -> Void) async throws {
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(self))
        } catch {
            result = .failure(error)
        }
        try? await unmount()
        temporary.remove()
        try result.get()
    }

    func mount() async throws {
        try await run("mount", "--bind", content.path, mountPoint.path)
    }

    func remount(_ mode: String) async throws {
        try await run("mount", "-o", "remount,bind,\(mode)", mountPoint.path)
    }

    func unmount() async throws {
        try await run("umount", "--lazy", mountPoint.path)
    }

    private func run(_ command: String, _ arguments: String...) async throws {
        let program = URL(fileURLWithPath: "/usr/bin/\(command)")
        let end = await (try SpawnedProgram(program, arguments, environment: [:])).end
        guard end == .status(0) else { throw Failure(command: "\(command) \(arguments)") }
    }
}
#endif
