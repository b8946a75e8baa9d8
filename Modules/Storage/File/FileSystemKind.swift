import Foundation

/// The kinds of file systems that a store treats differently.
enum FileSystemKind: Sendable {
    /// A disk of this host, or an unknown kind.
    case disk
    /// Memory: its content does not outlive the mount.
    case memory
    /// A network file system: this host is not notified of changes by others.
    case network
    /// A view of the kernel, or a place where disks are mounted: no file can be stored there.
    case virtual

    /// The device of a path, or of the nearest folder above it. `nil`: not known.
    static func nearestDevice(to path: String) -> UInt64? {
        var path = path
        var status = stat()
        while stat(path, &status) != 0 {
            guard errno == ENOENT, path.count > 1 else { return nil }
            path = (path as NSString).deletingLastPathComponent
        }
        return UInt64(status.st_dev)
    }

    /// Looks up the device that `stat` returns for a file on it.
    init(device: UInt64) {
        #if os(Linux)
        self.init(device: device, mounts: (try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)) ?? "")
        #else
        self = .disk
        #endif
    }

    /// Looks up a device, the number that `stat` returns, in lines in the format of `proc_pid_mountinfo(5)`.
    init(device: UInt64, mounts: String) {
        let major = (device >> 8 & 0xfff) | (device >> 32 & ~0xfff)
        let minor = (device & 0xff) | (device >> 12 & ~0xff)
        let number = "\(major):\(minor)"
        for line in mounts.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 6, fields[2] == number, let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count
            else { continue }
            self = Self.kind(of: fields[dash + 1])
            return
        }
        self = .disk
    }

    /// The kind of a file system, by its name in the kernel.
    private static func kind(of name: Substring) -> FileSystemKind {
        switch name {
        case "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "ceph", "afs", "gfs2", "ocfs2", "lustre", "glusterfs",
            "beegfs", "gpfs", "fuse", "fuseblk", "virtiofs", "vboxsf":
            .network
        case _ where name.hasPrefix("fuse."): .network
        case "proc", "sysfs", "cgroup", "cgroup2", "debugfs", "tracefs", "securityfs", "configfs", "pstore", "bpf",
            "efivarfs", "devpts", "mqueue", "binfmt_misc", "fusectl", "autofs":
            .virtual
        case "tmpfs", "ramfs": .memory
        default: .disk
        }
    }
}
