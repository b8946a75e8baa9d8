import Foundation

/// A temporary folder that only this user can read.
struct TemporaryFolder: Sendable {
    let url: URL

    /// Creates the folder.
    ///
    /// - Throws: ``Failure`` when the system's temporary folder is not writable.
    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("articles-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Failure("the temporary folder is not writable; set TMPDIR to a writable folder", .internalError)
        }
    }

    /// Removes the folder and its content.
    func remove() {
        // On failure the system removes the folder with its other temporary files.
        try? FileManager.default.removeItem(at: url)
    }
}
