import Foundation

/// A file that the user names; `-` is standard input.
struct InputFile {
    /// The most bytes that are read: the limit of a photo.
    static let limit = 64 * 1024 * 1024

    let path: String

    init(_ path: String) {
        self.path = path
    }

    /// - Throws: ``Failure``, which names the file.
    func data() throws -> Data {
        guard path != "-" else { return try read(.standardInput) }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw Failure("\(path) does not exist; check the path", .missingInput)
        }
        guard !isFolder.boolValue else { throw Failure("\(path) is a folder; name a file", .missingInput) }
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw Failure("\(path) cannot be read; check its permissions", .missingInput)
        }
        defer { try? handle.close() }
        return try read(handle)
    }

    /// - Throws: ``Failure``, also for text that is not UTF-8: its characters would be lost.
    func text() throws -> String {
        guard let text = String(validating: try data(), as: UTF8.self) else {
            throw Failure("\(name) is not UTF-8 text; convert it first", .unusableInput)
        }
        return text
    }

    private var name: String { path == "-" ? "standard input" : path }

    private func read(_ handle: FileHandle) throws -> Data {
        guard let data = try? handle.read(upToCount: Self.limit + 1) ?? Data() else {
            throw Failure("\(name) cannot be read; check that it is open, and no folder", .missingInput)
        }
        guard data.count <= Self.limit else {
            throw Failure("\(name) is larger than \(Self.limit.inKilobytes); choose a smaller file", .unusableInput)
        }
        return data
    }
}
