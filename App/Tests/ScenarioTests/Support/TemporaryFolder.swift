import Foundation

/// A folder for one scenario.
struct TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("latchkey-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// The folder of a file store, which the first sign-in makes.
    var tokens: URL { url.appendingPathComponent("tokens") }

    /// Removes the folder and what is in it. One that stays behind is no reason to fail a test.
    func remove() {
        try? FileManager.default.removeItem(at: url)
    }
}
