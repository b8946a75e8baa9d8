import Foundation

/// A folder for one test, removed with everything in it when the test lets go of it.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("latchkey-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// A folder in it that is not there yet.
    func fresh() -> URL {
        url.appendingPathComponent(UUID().uuidString)
    }
}
