import Foundation
import Storage
import TestSupport
import Testing

@Suite("A file shows whether protected data is available") struct ProtectedDataProbeTests {
    private let folder = TemporaryFolder()
    private var file: URL { folder.url.appendingPathComponent("unlocked") }

    @Test func `a missing file is created, and can be read afterwards`() async throws {
        #expect(await ProtectedDataProbe(file: file).isProtectedDataAvailable())
        let made = try Data(contentsOf: file)
        #expect(!made.isEmpty)
        #expect(await ProtectedDataProbe(file: file).isProtectedDataAvailable())
        #expect(try Data(contentsOf: file) == made)
    }

    @Test func `a file that cannot be read means unavailable, and is not replaced`() async throws {
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        #expect(await !ProtectedDataProbe(file: file).isProtectedDataAvailable())
        #expect(try folder.url.names == ["unlocked"])
    }

    @Test func `a file that cannot be created means unavailable`() async throws {
        let nowhere = folder.fresh().appendingPathComponent("unlocked")
        #expect(await !ProtectedDataProbe(file: nowhere).isProtectedDataAvailable())
    }
}
