import Foundation

/// A file for output that only its owner can read: mode 0600. A file of this name is replaced at once by the whole new
/// one; a device or a pipe is written to.
struct PrivateFile: Sendable {
    private let path: String
    private let isReplaced: Bool

    /// Checks that the file can be written.
    init(_ path: String) throws {
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        guard !isFolder.boolValue else { throw Failure("\(path) is a folder; name a file", .output) }
        // A link to a file is kept, and its file replaced.
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let type = try? FileManager.default.attributesOfItem(atPath: file)[.type] as? FileAttributeType
        isReplaced = !exists || type == .typeRegular
        self.path = type == .typeRegular ? file : path
        let folder = (self.path as NSString).deletingLastPathComponent
        guard access(isReplaced ? (folder.isEmpty ? "." : folder) : path, W_OK) == 0 else {
            throw Self.failure(path, errno)
        }
    }

    func write(_ data: Data) throws {
        let target = isReplaced ? "\(path).\(getpid()).tmp" : path
        let flags = isReplaced ? O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW : O_WRONLY
        let number = open(target, flags | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw Self.failure(path, errno) }
        do {
            try FileHandle(fileDescriptor: number, closeOnDealloc: true).write(contentsOf: data)
            guard !isReplaced || rename(target, path) == 0 else { throw Self.failure(path, errno) }
        } catch {
            let number = errno
            if isReplaced { unlink(target) }
            throw error as? Failure ?? Self.failure(path, number)
        }
    }

    private static func failure(_ path: String, _ number: Int32) -> Failure {
        Failure("\(path) cannot be written: \(String(cString: strerror(number)))", .output)
    }
}
