import AuthInterface
import AuthTesting
import ContractTesting
import DataAPI
import DevBackend
import Foundation
import NetworkCore
import ProgramTesting
import Storage
import Testing
import TokenRefresh

extension Scenarios {
    /// S16 and S21: stores that are unavailable, and stores that are not writable. S23: a sign-out that the store does
    /// not take, and tokens that are deleted behind the program's back; the journal is in a folder of its own.
    @Suite struct StoreScenarios {
        @Test func `S21: while the store is not writable there is no refresh call`() async throws {
            let folder = try TemporaryFolder()
            let faulty = FaultyTokenStore(FileTokenStore(folder: folder.tokens))
            try await TestApp.run(1, store: { _ in faulty }, { $0.failFast(with: ManualTimeSource()) }) { apps in
                let app = apps[0]
                faulty.fail(.record)
                try await app.backend.expireAccessTokens()
                await app.sendAll(20).expectAll(failWith: .storeUnavailable)
                #expect(app.backend.statistics.refreshes == .init())
                #expect(app.events.endings == [])

                // The next process has a writable store.
                let next = app.next(over: folder.tokens)
                await next.sendAll(20).expectSuccess()
                #expect(app.backend.statistics.refreshes == .init(received: 1, committed: 1))
                #expect(next.events.endings == [])
            }
        }

        @Test func `S23: after a sign-out that the store did not take, the next start is signed out, and revokes`()
            async throws
        {
            try await TestApp.runWithJournal { app, store, tokens in
                store.fail(.delete)
                app.backend.faults = FaultPlan([FaultRule("POST", "/auth/logout", .closeBeforeHandler, times: 1)])
                try await app.auth.logout()
                #expect(app.session.state == .signedOut(.byUser))
                #expect(app.session.status.isSignOutPending)
                #expect(try await FileTokenStore(folder: tokens).load() != nil, "the tokens are still stored")
                #expect(app.backend.statistics.logouts == 0)

                let next = app.next(over: tokens)
                #expect(try await next.session.restore() == .signedOut(.byUser))
                #expect(await next.send(.me)?.authentication?.code == .notSignedIn)
                await next.session.settle()
                #expect(app.backend.statistics.logouts == 1)
                #expect(try await FileTokenStore(folder: tokens).load() == nil)
                #expect(app.backend.statistics.refreshes == .init())
            }
        }

        @Test func `S23: deleted tokens are lost and end nothing at the server, and are used when they come back`()
            async throws
        {
            try await TestApp.runWithJournal { app, _, tokens in
                let file = FileTokenStore(folder: tokens).file
                let away = tokens.appendingPathComponent("away")
                try FileManager.default.moveItem(at: file, to: away)
                let lost = app.next(over: tokens)
                guard case .signedOut(.lost(let sighting)) = try await lost.session.restore() else {
                    Issue.record("\(lost.session.state)")
                    return
                }
                #expect(sighting?.store == "files" && sighting?.date != nil)
                #expect(await lost.send(.me)?.authentication?.code == .notSignedIn)
                await lost.session.settle()
                #expect(app.backend.statistics.logouts == 0)
                #expect(!FileManager.default.fileExists(atPath: file.path), "nothing is written")

                try FileManager.default.moveItem(at: away, to: file)
                let back = app.next(over: tokens)
                await back.sendAll(20).expectSuccess()
                #expect(back.session.state == app.session.state)
                #expect(back.events.endings == [])
            }
        }

        #if os(Linux)
        @Test(.enabled(if: MountedFolder.canMount, "needs root and mount(8)"))
        func `S21: while the token folder's disk is read-only the program makes no refresh call`() async throws {
            try await MountedFolder.use { disk in
                try await ProgramSandbox.run(in: disk.tokens) { sandbox in
                    try await sandbox.backend.expireAccessTokens()
                    try await disk.remount("ro")
                    for _ in 0..<2 {
                        let run = try await sandbox.run("list")
                        #expect(run.status == 74, "\(run.errors)")
                    }
                    #expect(sandbox.backend.statistics.refreshes == .init())
                    try await disk.remount("rw")
                    let run = try await sandbox.run("list")
                    #expect(run.status == 0, "\(run.errors)")
                    #expect(sandbox.backend.statistics.refreshes == .init(received: 1, committed: 1))
                }
            }
        }

        @Test(.enabled(if: MountedFolder.canMount, "needs root and mount(8)"))
        func `S16: while the token folder's disk is unmounted the session is unavailable`() async throws {
            let clock = ManualTimeSource()
            try await MountedFolder.use { disk in
                try await TestApp.run(
                    1, store: { _ in FileTokenStore(folder: disk.tokens) }, { $0.failFast(with: clock) }
                ) { apps in
                    let app = apps[0]
                    try await disk.unmount()
                    // A valid token does not need the disk.
                    await app.sendAll(20).expectSuccess()
                    try await app.backend.expireAccessTokens()
                    await app.sendAll(20).expectAll(failWith: .storeUnavailable)
                    #expect(app.backend.statistics.refreshes == .init())
                    #expect(app.events.endings == [])

                    try await disk.mount()
                    clock.advance(by: .seconds(1))
                    await app.sendAll(20).expectSuccess()
                    #expect(app.backend.statistics.refreshes == .init(received: 1, committed: 1))
                    #expect(app.events.endings == [])
                }
            }
        }

        @Test(.enabled(if: MountedFolder.canMount, "needs root and mount(8)"))
        func `S16: without the token folder's disk the program starts unavailable`() async throws {
            try await MountedFolder.use { disk in
                try await ProgramSandbox.run(in: disk.tokens) { sandbox in
                    try await disk.unmount()
                    for command in ["list", "status"] {
                        let run = try await sandbox.run(command)
                        #expect(run.status == 74, "\(command): \(run.output)\(run.errors)")
                    }
                    try await disk.mount()
                    let run = try await sandbox.run("list")
                    #expect(run.status == 0, "\(run.errors)")
                    #expect(sandbox.backend.statistics.socialLogins == 1)
                }
            }
        }
        #endif
    }
}

#if os(Linux)
/// A folder that is mounted at another path, so that it can be unmounted without losing its content.
private struct MountedFolder: Sendable {
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

    /// The folder of a file store on the disk, which the first sign-in creates.
    var tokens: URL { mountPoint.appendingPathComponent("state/tokens") }

    private init() async throws {
        temporary = try TemporaryFolder()
        for folder in [content.appendingPathComponent("state"), mountPoint] {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        try await mount()
    }

    /// Runs the body with a folder, and unmounts and removes it.
    static func use(_ body: (MountedFolder) async throws -> Void) async throws {
        let disk = try await MountedFolder()
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(disk))
        } catch {
            result = .failure(error)
        }
        try? await disk.unmount()
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
        let result = try await SpawnedProgram(program, arguments, environment: [:]).result
        guard result.status == 0 else { throw Failure(command: "\(command) \(arguments)") }
    }
}
#endif
