import AuthInterface
import Foundation
import Storage
import TokenRefresh

/// The store of files, beside the system calls that it cannot do without, and a refresh with each store.
enum StoreBenchmark: Subject {
    static let name = "stores"
    static let summary =
        "Saving and reading a session in a file, as ratios to writing, synchronising and renaming a file, and to "
        + "reading one; and a whole refresh with each store, with a server that responds at once."

    static func measure() async throws -> [Measurement] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = FileTokenStore(folder: folder.appendingPathComponent("tokens"))
        let other = FileTokenStore(folder: folder.appendingPathComponent("others"))
        let inFile = try await Session(store: other).engine
        let inMemory = try await Session().engine
        let bundle = TokenBundle(accessToken: "access-0", refreshToken: "refresh-0", session: SessionID())
        try await store.save(bundle)
        let bytes = try Data(contentsOf: store.file)
        let plain = folder.appendingPathComponent("plain")
        let works = [
            Work(name: "plain save") { count in for _ in 0..<count { try write(bytes, to: plain) } },
            Work(name: "save") { count in for _ in 0..<count { try await store.save(bundle) } },
            Work(name: "refresh in memory") { count in for _ in 0..<count { try await refresh(inMemory) } },
            Work(name: "refresh with a file") { count in for _ in 0..<count { try await refresh(inFile) } },
        ]
        let reads = [
            Work(name: "plain read") { count in for _ in 0..<count { _ = try Data(contentsOf: plain) } },
            Work(name: "read") { count in for _ in 0..<count { _ = try await store.read() } },
        ]
        let costs = try await Comparison(works: works, count: 20).costs()
        // Reads do not wait for the disk: only many of them take long enough to be measured.
        let costsOfReads = try await Comparison(works: reads, count: 1_000).costs()
        return [
            Measurement(
                name: "\(name)/file/save", metric: .wallRatio, value: .ratio(costs[1].wall, to: costs[0].wall)),
            Measurement(
                name: "\(name)/file/read", metric: .processorRatio,
                value: .ratio(costsOfReads[1].processor, to: costsOfReads[0].processor)),
        ]
            + zip(["memory", "file"], costs.dropFirst(2)).map { store, cost in
                Measurement(name: "\(name)/\(store)/refresh", metric: .microseconds, value: Spread(cost.wall))
            }
    }

    private static func refresh(_ engine: TokenRefreshCoordinator) async throws {
        try await engine.refresh()
    }

    /// Beside its place, to the disk, and there.
    private static func write(_ bytes: Data, to file: URL) throws {
        let part = file.appendingPathExtension("part")
        try bytes.write(to: part)
        let handle = try FileHandle(forWritingTo: part)
        try handle.synchronize()
        try handle.close()
        guard rename(part.path, file.path) == 0 else { throw BenchError("rename failed") }
    }
}
