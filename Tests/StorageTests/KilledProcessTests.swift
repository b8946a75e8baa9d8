import AuthInterface
import ConcurrencyPrimitives
import Foundation
import TestSupport
import Testing

@testable import Peer
@testable import Storage

/// Real processes, killed at random instants. `TORTURE_KILLS`, `TORTURE_PROCESSES` and `TORTURE_REFRESHES` in the
/// environment make the counts larger.
@Suite("A killed process leaves the old bundle or the new one, whole, and releases its lease", .timeLimit(.minutes(30)))
struct KilledProcessTests: TemporaryStoreTests {
    private static let kills = count("TORTURE_KILLS", otherwise: 200)
    private static let processes = count("TORTURE_PROCESSES", otherwise: 4)
    private static let refreshes = count("TORTURE_REFRESHES", otherwise: 25)
    private static let lanes = 4

    let place = TemporaryStore()

    @Test func `G12: a process killed in a save leaves the old bundle or the new one, whole`() async throws {
        let tally = Locked((kills: 0, unfinished: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<Self.lanes {
                group.addTask {
                    let folder = temporary.fresh()
                    for _ in stride(from: lane, to: Self.kills, by: Self.lanes) {
                        let wasUnfinished = try await killOnce(folder)
                        tally.withLock { tally in
                            tally.kills += 1
                            tally.unfinished += wasUnfinished ? 1 : 0
                        }
                    }
                    try await FileTokenStore(folder: folder).save(.large(1 << 40))
                    #expect(try folder.names == ["default.json", "default.json.lock"])
                }
            }
            try await group.waitForAll()
        }
        let (kills, unfinished) = tally.withLock { $0 }
        #expect(kills == Self.kills)
        // About every second kill hits a write. A run without one would prove nothing.
        #expect(unfinished > 0 || kills < 50, "no kill hit a file that was being written")
        report("\(kills) kills while saving, \(unfinished) of them left an unfinished file; every load was whole")
    }

    /// Lets a process save until it is killed. The result is whether it left an unfinished file.
    private func killOnce(_ folder: URL) async throws -> Bool {
        let store = FileTokenStore(folder: folder)
        var acknowledged = try await store.load()?.generation ?? -1
        let process = try SpawnedProcess(peer: "save", folder)
        var rounds = Int.random(in: 1...6)
        for await line in process.lines {
            acknowledged = try #require(Int(line), "\(line)")
            rounds -= 1
            if rounds == 0 {
                // At any instant of the next one or two saves.
                DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(.random(in: 0...1_500))) {
                    process.kill()
                }
            }
        }
        #expect(await process.end() == .signal(SIGKILL))
        let stored = try #require(try await store.load())
        #expect(stored == .large(stored.generation))
        #expect((acknowledged...acknowledged + 1).contains(stored.generation))
        return try folder.names.contains { $0.contains(".tmp") }
    }

    @Test func `G13: a lease is free when its holder is killed, even if a child of it still runs`() async throws {
        try await store.save(.large(0))
        let (process, child) = try await SpawnedProcess.holdingLease(of: folder)
        #expect(await storeError { _ = try await store.lease(waitingAtMost: .zero) }?.code == .busy)
        process.kill()
        await (try await store.lease(waitingAtMost: .seconds(3_600))).release()
        #expect(kill(child, 0) == 0, "the child did not live on")
        kill(child, SIGKILL)
    }

    @Test func `G13: processes that refresh one shared session in turn never use a refresh token twice`() async throws {
        try await store.save(.large(0))
        let processes = try (0..<Self.processes).map { _ in
            try SpawnedProcess(peer: "rotate", folder, Self.refreshes)
        }
        for process in processes { #expect(await process.remainingLines() == ["refreshed \(Self.refreshes)"]) }
        #expect(try await store.load() == .large(Self.processes * Self.refreshes))
        report("\(Self.processes) processes, \(Self.refreshes) refreshes each: no token used twice, no session lost")
    }

    @Test func `a full disk is unavailable, and the old bundle stays, whole, without a temporary file`() async throws {
        try await store.save(.large(1))
        for limit in [0, 1, 1_000, 4_096] {
            let lines = try await SpawnedProcess(peer: "save-once", folder, limit).remainingLines()
            #expect(lines.count == 1 && lines[0].hasPrefix("unavailable: could not write"), "\(lines)")
            #expect(lines.first?.hasSuffix("File too large") == true)
            #expect(try await store.load() == .large(1))
            #expect(try folder.names == ["default.json", "default.json.lock"])
        }
    }

    @Test func `a read-only folder can be loaded from, and a save there is unavailable`() async throws {
        try await store.save(.large(1))
        try FileManager.default.removeItem(at: store.file.appendingPathExtension("lock"))
        if geteuid() == 0 {
            for path in [folder.path, store.file.path] { #expect(chown(path, 65_534, 65_534) == 0) }
        }
        try folder.setPermissions(0o500)
        let lines = try await SpawnedProcess(peer: "save-unprivileged", folder).remainingLines()
        #expect(lines.count == 1 && lines[0].hasPrefix("unavailable: could not open"), "\(lines)")
        #expect(lines.first?.hasSuffix("Permission denied") == true)
        try folder.setPermissions(0o700)
    }

    private static func count(_ name: String, otherwise standard: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? standard
    }

    private func report(_ line: String) {
        FileHandle.standardError.write(Data("torture-storage: \(line)\n".utf8))
    }
}
