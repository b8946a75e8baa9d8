import Foundation

/// Who may use the folder and the files of a ``FileTokenStore``.
public struct FolderAccess: Sendable, Hashable {
    enum Kind: Sendable {
        case owner, group, readers
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

    /// The user of the process writes, and the members of the group that the folder belongs to read: folders of mode
    /// 2750, files of mode 0640.
    ///
    /// For the file of followers (``FollowedTokenStore``), and never for one with a refresh token. The owner makes the
    /// folder, and gives it to the group of the followers: `chgrp followers FOLDER`. A reader is a member of that
    /// group, and uses a folder of another user; above it, that user's folders and those of root count as safe.
    public static let readableByGroup = FolderAccess(kind: .readers)

    /// The mode of a new folder.
    var folderMode: mode_t {
        switch kind {
        case .owner: 0o700
        case .group: 0o2770
        case .readers: 0o2750
        }
    }

    /// The mode of a new file.
    var fileMode: mode_t {
        switch kind {
        case .owner: 0o600
        case .group: 0o660
        case .readers: 0o640
        }
    }

    /// The permissions for which a file or folder is refused.
    var refusedPermissions: mode_t {
        switch kind {
        case .owner: 0o077
        case .group: 0o007
        case .readers: 0o027
        }
    }

    /// Whether a file or folder belongs to a user who may use it.
    func admits(_ status: stat) -> Bool {
        if status.st_uid == geteuid() { return true }
        return kind != .owner && (status.st_gid == getegid() || Self.groups().contains(status.st_gid))
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
