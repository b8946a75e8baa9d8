import Foundation

/// Who may use the folder and the files of a ``FileTokenStore``.
public struct FolderAccess: Sendable, Hashable {
    /// The mode of a new folder.
    let folderMode: mode_t

    /// The mode of a new file.
    let fileMode: mode_t

    /// The permissions for which a file or folder is refused.
    let refusedPermissions: mode_t

    /// The user of the process only: folders of mode 0700, files of mode 0600, owned by that user.
    public static let owner = FolderAccess(folderMode: 0o700, fileMode: 0o600, refusedPermissions: 0o077)

    /// The members of the group that the folder belongs to: folders of mode 2770, files of mode 0660.
    ///
    /// For a volume that several users of one group share, such as a Kubernetes volume with `fsGroup`: its folders and
    /// files may belong to any user as long as they belong to a group of this process. Every member of the group can
    /// read and replace the tokens.
    public static let group = FolderAccess(folderMode: 0o2770, fileMode: 0o660, refusedPermissions: 0o007)

    /// The user of the process writes, and the members of the group that the folder belongs to read: folders of mode
    /// 2750, files of mode 0640.
    ///
    /// For the file of followers (``FollowedTokenStore``), and never for one with a refresh token. The owner makes the
    /// folder, and gives it to the group of the followers: `chgrp followers FOLDER`. A reader is a member of that
    /// group, and uses a folder of another user; above it, that user's folders and those of root count as safe.
    public static let readableByGroup = FolderAccess(
        folderMode: 0o2750, fileMode: 0o640, refusedPermissions: 0o027)

    /// Whether a file or folder belongs to a user who may use it.
    func admits(_ status: stat) -> Bool {
        if status.st_uid == geteuid() { return true }
        return self != .owner && (status.st_gid == getegid() || Self.groups().contains(status.st_gid))
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
