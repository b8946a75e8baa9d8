import Foundation

/// The identity of a folder, by which another folder at the same path is recognized.
struct FolderIdentity: Sendable, Hashable {
    let device: UInt64
    let inode: UInt64

    /// The identifier of the file system, or 0 if the system has none. A disk that is mounted again may have another
    /// device number, but the same file system.
    let fileSystem: UInt

    init(device: UInt64, inode: UInt64, fileSystem: UInt) {
        self.device = device
        self.inode = inode
        self.fileSystem = fileSystem
    }

    init(_ status: stat, fileSystem: UInt) {
        self.init(device: UInt64(status.st_dev), inode: UInt64(status.st_ino), fileSystem: fileSystem)
    }

    /// Whether both are one folder, although its disk may have been mounted again in between.
    func isSameFolder(as other: FolderIdentity) -> Bool {
        inode == other.inode && (device == other.device || fileSystem != 0 && fileSystem == other.fileSystem)
    }
}
