package import Foundation

/// A temporary folder that only this user can read. It is removed with its content when the object is deallocated.
package final class TemporaryFolder: Sendable {
    package let url: URL

    /// Creates the folder.
    ///
    /// - Throws: `CocoaError` when the system's temporary folder is not writable.
    package init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("latchkey-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The folder of a file store, which the first sign-in creates.
    package var tokens: URL { url.appendingPathComponent("tokens") }
}
