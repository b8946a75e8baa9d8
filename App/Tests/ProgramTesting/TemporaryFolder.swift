package import Foundation

/// A temporary folder that only this user can read.
package struct TemporaryFolder: Sendable {
    package let url: URL

    /// Creates the folder.
    ///
    /// - Throws: `CocoaError` when the system's temporary folder is not writable.
    package init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("latchkey-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// The folder of a file store, which the first sign-in creates.
    package var tokens: URL { url.appendingPathComponent("tokens") }

    /// Removes the folder and its content. A failure is ignored: it is no reason to fail a test.
    package func remove() {
        try? FileManager.default.removeItem(at: url)
    }
}
