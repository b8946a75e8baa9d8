package import Foundation

/// A folder for one test. It is removed with its content when the object is deallocated.
package final class TemporaryFolder: Sendable {
    package let url: URL

    /// Creates the folder. The process ends when the system's temporary folder is not writable.
    package init() {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("latchkey-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        } catch {
            fatalError("no temporary folder: \(error)")
        }
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// A folder in it that does not exist yet.
    package func fresh() -> URL { url.appendingPathComponent(UUID().uuidString) }

    /// Writes a file, and the folders above it.
    package func write(_ text: String, to path: String) throws {
        let file = url.appendingPathComponent(path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }
}

/// A file that is removed with the test.
package final class TemporaryFile: Sendable {
    package let url: URL
    private let folder: TemporaryFolder

    package init(_ content: Data, named name: String = "file.bin") throws {
        folder = TemporaryFolder()
        url = folder.url.appendingPathComponent(name)
        try content.write(to: url)
    }
}
