import Foundation

/// A folder for one test. It is removed when the object is deallocated.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("latchkey-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// A folder in it that does not exist yet.
    func fresh() -> URL {
        url.appendingPathComponent(UUID().uuidString)
    }
}
