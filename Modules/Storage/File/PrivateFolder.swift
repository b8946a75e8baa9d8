import AuthInterface
import Foundation

/// A folder that only its owner can look into, held open.
///
/// Its safety is checked on the open folder, and everything in it is reached through the open folder, never through
/// its path: nobody can put another folder in its place between the check and the use.
struct PrivateFolder: ~Copyable {
    let path: String
    let descriptor: Descriptor

    /// Opens a folder.
    ///
    /// - Parameters:
    ///   - path: The folder.
    ///   - isModeChecked: Whether a folder that others have rights on is refused.
    /// - Returns: The folder, or `nil` if there is none.
    /// - Throws: ``TokenStoreError`` with code `insecure` when somebody else has any right on it; `unavailable`.
    static func open(_ path: String, isModeChecked: Bool = true) throws(TokenStoreError) -> PrivateFolder? {
        let number: Int32
        do {
            number = try uninterrupted { systemOpen(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
        } catch {
            switch error.number {
            case ENOENT: return nil
            case ELOOP, ENOTDIR: throw refusal(of: path, error)
            default: throw .system(error, "open the folder", path)
            }
        }
        let descriptor = Descriptor(number: number)
        let status = try attempt("look at", path) { () throws(SystemCallError) in try descriptor.status() }
        try FileSafety.folder.checkOwner(status, path)
        if isModeChecked { try FileSafety.folder.checkMode(status, path) }
        return PrivateFolder(path: path, descriptor: descriptor)
    }

    /// Opens a folder, and makes it (mode 0700) and those above it if they are missing.
    ///
    /// - Throws: As ``open(_:)``.
    static func openOrCreate(_ path: String) throws(TokenStoreError) -> PrivateFolder {
        if let folder = try open(path) { return folder }
        try attempt("make the folder", path) { () throws(SystemCallError) in try create(path) }
        guard let folder = try open(path) else {
            throw .system(SystemCallError(number: ENOENT), "open the folder", path)
        }
        return folder
    }

    /// Makes a folder for its owner alone, and those above it. One that is there by now is as good.
    private static func create(_ path: String) throws(SystemCallError) {
        let parent = (path as NSString).deletingLastPathComponent
        do {
            try uninterrupted { mkdir(path, 0o700) }
        } catch let error where error.number == EEXIST {
            return
        } catch let error where error.number == ENOENT && parent != path && !parent.isEmpty {
            try create(parent)
            return try create(path)
        }
        // The new name is on the disk only when the folder that has it is.
        let above = Descriptor(number: try uninterrupted { systemOpen(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        try above.synchronise()
    }

    /// Says whether a folder that would not open is a link, or no folder at all.
    private static func refusal(of path: String, _ error: SystemCallError) -> TokenStoreError {
        var status = stat()
        guard lstat(path, &status) == 0 else { return .system(error, "open the folder", path) }
        if status.st_mode & S_IFMT == S_IFLNK { return FileSafety.folder.symbolicLink(path) }
        do {
            try FileSafety.folder.checkOwner(status, path)
        } catch {
            return error
        }
        return .system(error, "open the folder", path)
    }
}
