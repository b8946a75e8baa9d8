import Foundation

/// A file of a body cannot be sent.
struct BodyFileError: Error {
    let reason: String

    /// Throws when a file cannot be read: before anything is sent, and without the path, which may contain the name of
    /// a user.
    static func check(_ url: URL) throws {
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
        guard url.isFileURL, exists, !isFolder.boolValue, FileManager.default.isReadableFile(atPath: url.path) else {
            throw BodyFileError(reason: "the file to send cannot be read")
        }
    }

    /// The size of a file in bytes.
    static func size(of url: URL) throws -> Int64 {
        try check(url)
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        return (attributes[.size] as? NSNumber)?.int64Value ?? 0
    }
}
