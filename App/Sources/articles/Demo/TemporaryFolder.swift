import Foundation

/// A folder that only this user can look into, to be removed when its work is done.
struct TemporaryFolder: Sendable {
    let url: URL

    /// Makes the folder.
    ///
    /// - Throws: ``Failure`` when the system's temporary folder cannot be written to.
    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("articles-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Failure("cannot write to the temporary folder; set TMPDIR to one that can be written to", .fault)
        }
    }

    /// Removes the folder and what is in it.
    func remove() {
        // What cannot be removed now is left to whoever clears the system's temporary folder.
        try? FileManager.default.removeItem(at: url)
    }
}
