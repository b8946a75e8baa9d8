import Foundation

/// Who may use the folder and the files of a ``FileTokenStore``.
public struct FolderAccess: Sendable, Hashable {
    enum Kind: Sendable {
        case owner, group
    }

    let kind: Kind

    /// The user of the process only: folders of mode 0700, files of mode 0600, owned by that user.
    public static let owner = FolderAccess(kind: .owner)

    /// The members of the group that the folder belongs to: folders of mode 2770, files of mode 0660.
    ///
    /// For a volume that several users of one group share, such as a Kubernetes volume with `fsGroup`: its folders and
    /// files may belong to any user as long as they belong to a group of this process. Every member of the group can
    /// read and replace the tokens.
    public static let group = FolderAccess(kind: .group)

    /// The mode of a new folder.
    var folderMode: mode_t { kind == .owner ? 0o700 : 0o2770 }

    /// The mode of a new file.
    var fileMode: mode_t { kind == .owner ? 0o600 : 0o660 }

    /// The permissions for which a file or folder is refused.
    var refusedPermissions: mode_t { kind == .owner ? 0o077 : 0o007 }

    /// Whether a file or folder belongs to a user who may use it.
    func admits(_ status: stat) -> Bool {
        if status.st_uid == geteuid() { return true }
        return kind == .group && (status.st_gid == getegid() || Self.groups().contains(status.st_gid))
    }

    /// The supplementary groups of the process.
    private static func groups() -> [gid_t] {
        let count = getgroups(0, nil)
        guard count > 0 else { return [] }
        var groups = [gid_t](repeating: 0, count: Int(count))
        let found = getgroups(count, &groups)
        return Array(groups.prefix(max(0, Int(found))))
    }
}
