import AuthInterface
import Foundation

/// An open folder that only its owner, or its group, can read.
///
/// The checks and all access use the open folder, never its path, so that a folder which replaces it after the check is
/// not used.
struct PrivateFolder: ~Copyable {
    let path: String
    let descriptor: Descriptor
    let access: FolderAccess
    let identity: FolderIdentity

    /// The user of this process, in a folder that no other user may use.
    var owner: uid_t?

    /// Opens a folder; `nil` if it is certain that it does not exist. One on which another user has any right is
    /// `insecure`; where a link on the way leads nowhere, it is `unavailable`.
    static func open(
        _ path: String, isModeChecked: Bool = true, access: FolderAccess = .owner
    ) throws(TokenStoreError) -> PrivateFolder? {
        guard let number = try open(existing: path) else { return nil }
        let descriptor = Descriptor(number: number)
        let status = try attempt("inspect", path) { () throws(SystemCallError) in try descriptor.status() }
        let safety = FileSafety(kind: .folder, access: access)
        try safety.checkOwner(status, path)
        if isModeChecked { try safety.checkMode(status, path) }
        let identity = FolderIdentity(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), fileSystem: descriptor.fileSystem())
        let owner = access == .owner ? status.st_uid : nil
        return PrivateFolder(path: path, descriptor: descriptor, access: access, identity: identity, owner: owner)
    }

    /// Opens a folder. It and those above it are created (mode 0700) if they are missing.
    static func openOrCreate(_ path: String, isModeChecked: Bool = true) throws(TokenStoreError) -> PrivateFolder {
        if let folder = try open(path, isModeChecked: isModeChecked) { return folder }
        try attempt("make the folder", path) { () throws(SystemCallError) in try create(path) }
        guard let folder = try open(path, isModeChecked: isModeChecked) else {
            throw .system(SystemCallError(number: ENOENT), "open the folder", path)
        }
        return folder
    }

    /// Creates a folder, and those above it, each with its mode before it has its name. It is no error if it exists.
    static func create(_ path: String, mode: mode_t = 0o700) throws(SystemCallError) {
        let parent = (path as NSString).deletingLastPathComponent
        let unnamed = path + ".tmp"
        var status = stat()
        while lstat(path, &status) != 0 {
            do {
                try make(unnamed, mode)
            } catch let error where error.number == ENOENT && parent != path && !parent.isEmpty {
                try create(parent, mode: mode)
                // A second failure is final: a link on the way leads nowhere, or the file system takes no folders.
                try make(unnamed, mode)
            }
            try name(unnamed, path)
        }
    }

    /// Makes a folder of a mode, or takes one that a killed process has left.
    static func make(_ path: String, _ mode: mode_t) throws(SystemCallError) {
        do {
            try uninterrupted { mkdir(path, mode) }
        } catch let error where error.number == EEXIST {
            guard let status = try statusIfExists({ lstat(path, &$0) }) else { return }
            guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else { throw error }
        }
        // The umask may have removed bits. If the folder is gone, another process has given it its name.
        if chmod(path, mode) != 0, errno != ENOENT { throw SystemCallError(number: errno) }
    }

    /// Gives a folder its name, unless another process has. The lock is that of the folder: renaming it over one that
    /// another process has just made would take the place of that one.
    private static func name(_ unnamed: String, _ path: String) throws(SystemCallError) {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        guard let folder = try openIfExists({ systemOpen(unnamed, flags) }) else { return }
        _ = flock(folder.number, LOCK_EX)  // not every file system can lock a folder
        guard LockedFile(path: unnamed, try folder.status()).isAtItsPath else { return }
        guard try statusIfExists({ lstat(path, &$0) }) == nil else { return _ = rmdir(unnamed) }
        try uninterrupted { rename(unnamed, path) }
        try synchronizeNames(in: (path as NSString).deletingLastPathComponent)
    }

    /// Waits until the names in a folder are on the disk.
    static func synchronizeNames(in folder: String) throws(SystemCallError) {
        let folder = Descriptor(number: try uninterrupted { systemOpen(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        try folder.synchronize()
    }

    /// Returns the number of the open folder; `nil` if it is certain that none exists.
    private static func open(existing path: String) throws(TokenStoreError) -> Int32? {
        var isRepeated = false
        while true {
            do {
                return try uninterrupted { systemOpen(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
            } catch {
                switch error.number {
                case ENOENT:
                    if try isMissing(path) { return nil }
                    guard !isRepeated else { throw .system(error, "open the folder", path) }
                    isRepeated = true
                case ELOOP, ENOTDIR: throw refusal(of: path, error)
                default: throw .system(error, "open the folder", path)
                }
            }
        }
    }

    /// Whether a folder that was not found does not exist (G14): one name on the way is missing, in a folder that
    /// exists. It may exist by now. What is behind a link that leads nowhere is not known; its disk may not be mounted.
    private static func isMissing(_ path: String) throws(TokenStoreError) -> Bool {
        var parent = path.hasPrefix("/") ? "" : "."
        for name in path.split(separator: "/") {
            let next = parent + "/" + name
            let found = try attempt("find the folder", next) { () throws(SystemCallError) in
                try statusIfExists { lstat(next, &$0) }
            }
            guard var status = found else { return try !exists(String(name), in: parent.isEmpty ? "/" : parent) }
            if status.st_mode & S_IFMT == S_IFLNK, stat(next, &status) != 0 {
                throw .system(
                    SystemCallError(number: errno), "follow the symbolic link", next,
                    ifMissing: "mount the disk that it leads to, or remove the link: rm \(next.quotedForShell)")
            }
            parent = next
        }
        return false
    }

    /// Whether a folder has a name in it. A link on the way may have lost its target since the path was followed, so it
    /// is the open folder that is asked.
    private static func exists(_ name: String, in folder: String) throws(TokenStoreError) -> Bool {
        try attempt("find the folder", folder + "/" + name) { () throws(SystemCallError) in
            let flags = searchOnly | O_DIRECTORY | O_CLOEXEC
            let parent = Descriptor(number: try uninterrupted { systemOpen(folder, flags) })
            return try statusIfExists { fstatat(parent.number, name, &$0, AT_SYMLINK_NOFOLLOW) } != nil
        }
    }

    /// Opens a folder that need not be readable: `O_PATH`, which the C module of Swift does not export.
    #if canImport(Darwin)
    private static let searchOnly = O_RDONLY
    #else
    private static let searchOnly: Int32 = 0o10_000_000
    #endif

    /// The error for a folder that could not be opened: it may be a link, or not a folder.
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

/// The identity of a folder, by which another folder at the same path is recognized.
struct FolderIdentity: Sendable, Hashable {
    let device: UInt64
    let inode: UInt64

    /// The identifier of the file system, or 0 if the system has none. A disk that is mounted again may have another
    /// device number, but the same file system.
    let fileSystem: UInt

    /// Whether both are one folder, although its disk may have been mounted again in between.
    func isSameFolder(as other: FolderIdentity) -> Bool {
        inode == other.inode && (device == other.device || fileSystem != 0 && fileSystem == other.fileSystem)
    }
}
