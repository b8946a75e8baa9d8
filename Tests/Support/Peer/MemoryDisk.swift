import Foundation

/// A disk in memory that is mounted and unmounted, in a mount namespace of this process.
///
/// It keeps its content while it is unmounted: it stays mounted in a folder beside the mount point.
struct MemoryDisk {
    let mountPoint: URL

    func perform(_ command: String) throws {
        #if os(Linux)
        switch command {
        case "mount":
            let content = mountPoint.appendingPathExtension("content")
            if !FileManager.default.fileExists(atPath: content.path) {
                try FileManager.default.createDirectory(at: content, withIntermediateDirectories: false)
                try check(mount("none", content.path, "tmpfs", 0, nil))
            }
            try check(mount(content.path, mountPoint.path, nil, UInt(MS_BIND), nil))
        case "mount small": try check(mount("none", mountPoint.path, "tmpfs", 0, "size=64k,nr_inodes=64"))
        case "mount alone": try check(mount("none", mountPoint.path, "tmpfs", 0, nil))
        case "unmount now": try check(umount2(mountPoint.path, 0))
        default: try check(umount2(mountPoint.path, Int32(MNT_DETACH)))
        }
        #endif
    }

    private func check(_ result: Int32) throws {
        if result != 0 { throw PeerError(description: String(cString: strerror(errno))) }
    }
}
