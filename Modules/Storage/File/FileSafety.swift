import AuthInterface
import Foundation

/// The checks of a file or folder before a token is read from it or written into it.
///
/// Nothing is fixed silently, because another user may have read a token already. Each error is `insecure`, and names
/// the command that fixes the problem.
struct FileSafety {
    enum Kind { case folder, file }

    let kind: Kind
    var access = FolderAccess.owner

    /// The user of this process, where it is known already.
    var owner: uid_t?

    static let folder = FileSafety(kind: .folder)

    /// Checks the type and the owner.
    func checkOwner(_ status: stat, _ path: String) throws(TokenStoreError) {
        guard status.st_mode & S_IFMT == (kind == .folder ? S_IFDIR : S_IFREG) else {
            let kind = kind == .folder ? "a folder" : "a regular file"
            let move = "mv \(path.quotedForShell) \((path + ".old").quotedForShell)"
            throw insecure("\(path) is not \(kind); move it away: \(move)")
        }
        guard status.st_uid == owner || access.admits(status) else {
            let change = "sudo chown \(geteuid()) \(path.quotedForShell)"
            throw insecure("\(path) belongs to user \(status.st_uid); change the owner: \(change)")
        }
    }

    /// Checks that no other user has any right. With access control lists, the group bits of the mode are the upper
    /// bound of what they grant.
    func checkMode(_ status: stat, _ path: String) throws(TokenStoreError) {
        let permissions = status.st_mode & 0o777
        guard permissions & access.refusedPermissions == 0 else {
            let octal = String(permissions, radix: 8)
            let mode = String(kind == .folder ? access.folderMode : access.fileMode, radix: 8)
            throw insecure("other users can access \(path) (mode \(octal)); run: chmod \(mode) \(path.quotedForShell)")
        }
    }

    /// Checks that no other user can replace the folder: the parent and all folders above it, and those above what a
    /// link on the way leads to, belong to this user or to root, and may not be written by all users or by a group,
    /// unless the sticky bit is set. A group may write where a group may read the tokens, and so may the private group
    /// of the folder's owner, which a system with the umask 002 gives to each user.
    func checkParents(of path: String, isPrivateGroup: (stat) -> Bool = Self.isPrivateGroup) throws(TokenStoreError) {
        let parents = Self.parents(of: path)
        let owner = access == .readableByGroup ? Self.owner(of: path) : nil
        for parent in parents { try checkParent(parent, owner, isPrivateGroup) }
        guard let nearest = parents.first(where: { Foundation.access($0, F_OK) == 0 }),
            let real = realpath(nearest, nil)
        else {
            return
        }
        defer { free(real) }
        let target = String(cString: real)
        if target != nearest {
            for parent in [target] + Self.parents(of: target) { try checkParent(parent, owner, isPrivateGroup) }
        }
    }

    /// The parent of a path and all folders above it.
    private static func parents(of path: String) -> [String] {
        var (parents, parent) = ([String](), path)
        while let slash = parent.lastIndex(of: "/"), parent.count > 1 {
            parent = slash == parent.startIndex ? "/" : String(parent[..<slash])
            parents.append(parent)
        }
        return parents
    }

    /// The user whose folder readers use. `nil`: there is no folder yet.
    private static func owner(of path: String) -> uid_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_uid : nil
    }

    /// `owner`: the user whose folders readers trust beside their own.
    private func checkParent(
        _ parent: String, _ owner: uid_t?, _ isPrivateGroup: (stat) -> Bool
    ) throws(TokenStoreError) {
        var (status, link) = (stat(), stat())
        // What is no folder fails when the path is opened.
        guard stat(parent, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, lstat(parent, &link) == 0 else { return }
        let shown = parent.quotedForShell
        if self.access != .group,
            let other = [link, status].first(where: { !Self.isTrusted($0.st_uid) && $0.st_uid != owner })?.st_uid
        {
            throw insecure(
                "user \(other) owns \(parent) and can replace what is in it; choose a folder of yours, or change the "
                    + "owner: sudo chown \(geteuid()) \(shown)")
        }
        guard status.st_mode & S_ISVTX == 0 else { return }
        if status.st_mode & S_IWOTH != 0 {
            throw insecure("all users can replace what is in \(parent); run: chmod o-w \(shown)")
        }
        if status.st_mode & S_IWGRP != 0, access != .group, !isPrivateGroup(status) {
            throw insecure(
                "group \(status.st_gid) can replace what is in \(parent); run: chmod g-w \(shown); or, where the "
                    + "group is meant to share it, as with the fsGroup of a volume, use access .group")
        }
    }

    /// Whether the owner of a parent is this user or root. In a user namespace, root and other users of the host that
    /// have no number there are shown as one that no process in the namespace has.
    static func isTrusted(_ owner: uid_t, users: String? = nil, overflow: String? = nil) -> Bool {
        if owner == 0 || owner == geteuid() { return true }
        #if os(Linux)
        func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
        let number = (overflow ?? text("/proc/sys/kernel/overflowuid")).trimmingCharacters(in: .whitespacesAndNewlines)
        guard uid_t(number) == owner else { return false }
        let ranges = (users ?? text("/proc/self/uid_map")).split(separator: "\n").map { line in
            line.split(separator: " ").compactMap { UInt64($0) }
        }
        return !ranges.isEmpty
            && !ranges.contains { $0.count != 3 || ($0[0]..<$0[0] + $0[2]).contains(UInt64(owner)) }
        #else
        return false
        #endif
    }

    /// Whether the group of a folder has its owner as the only member: it has the owner's name, is the owner's first
    /// group, and lists no other user.
    static func isPrivateGroup(_ status: stat) -> Bool {
        var buffer = [CChar](repeating: 0, count: 65_536)
        var (user, foundUser) = (passwd(), UnsafeMutablePointer<passwd>?.none)
        guard getpwuid_r(status.st_uid, &user, &buffer, buffer.count, &foundUser) == 0, foundUser != nil,
            user.pw_gid == status.st_gid
        else { return false }
        let name = String(cString: user.pw_name)
        var (group, foundGroup) = (Foundation.group(), UnsafeMutablePointer<Foundation.group>?.none)
        guard getgrgid_r(status.st_gid, &group, &buffer, buffer.count, &foundGroup) == 0, foundGroup != nil,
            String(cString: group.gr_name) == name
        else { return false }
        var member = group.gr_mem
        while let text = member?.pointee {
            if String(cString: text) != name { return false }
            member = member?.successor()
        }
        return true
    }

    /// The error for a symbolic link: a user who can change the link decides where tokens are stored.
    func symbolicLink(_ path: String) -> TokenStoreError {
        let kind = kind == .folder ? "the folder" : "the file"
        return insecure("\(path) is a symbolic link; put \(kind) itself there: rm \(path.quotedForShell)")
    }

    private func insecure(_ reason: String) -> TokenStoreError { TokenStoreError(.insecure, reason: reason) }
}

extension String {
    /// The text, quoted as one word of a shell command.
    var quotedForShell: String {
        let isPlain = unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "/", ".", "_", "%", "+", "-", "@", ":": true
            default: false
            }
        }
        if !isEmpty && isPlain { return self }
        return "'" + replacingOccurrences(of: "'", with: "'\\''") + "'"
    }
}

/// The value of `errno` after a call that failed.
struct SystemCallError: Error { let number: Int32 }

extension TokenStoreError {
    /// Whether a file could not be written because its disk or its quota is full.
    var isForLackOfSpace: Bool {
        guard let code = (cause as? POSIXError)?.code else { return false }
        return [.ENOSPC, .EDQUOT, .EFBIG].contains(code)
    }

    /// The error for a system call that failed: `unavailable`. The attempt is the verb of "could not … PATH", and the
    /// remedy is for a file that does not exist.
    static func system(
        _ error: SystemCallError, _ attempt: String, _ path: String, ifMissing remedy: String? = nil
    ) -> TokenStoreError {
        let advice = error.number == ENOENT ? remedy.map { "; \($0)" } ?? "" : ""
        return TokenStoreError(
            .unavailable, reason: "could not \(attempt) \(path): \(String(cString: strerror(error.number)))\(advice)",
            cause: POSIXErrorCode(rawValue: error.number).map { POSIXError($0) })
    }
}

/// Makes a system call, and repeats it while a signal interrupts it (`EINTR`). The call
/// returns a negative number and sets `errno` when it fails.
@discardableResult
func uninterrupted<Number: SignedInteger>(_ call: () -> Number) throws(SystemCallError) -> Number {
    while true {
        let result = call()
        if result >= 0 { return result }
        let number = errno
        if number != EINTR { throw SystemCallError(number: number) }
    }
}

/// Reads the status of a file or folder with `lstat` or `fstatat`; `nil` if there is no such file.
func statusIfExists(_ call: (inout stat) -> Int32) throws(SystemCallError) -> stat? {
    var status = stat()
    do {
        try uninterrupted { call(&status) }
        return status
    } catch let error where error.number == ENOENT {
        return nil
    }
}

/// Opens a file or folder with `open` or `openat`; `nil` if there is no such file.
func openIfExists(_ call: () -> Int32) throws(SystemCallError) -> Descriptor? {
    do {
        return Descriptor(number: try uninterrupted(call))
    } catch let error where error.number == ENOENT {
        return nil
    }
}

/// Makes system calls for a file or folder, and adds both to the error: "could not ATTEMPT PATH".
@discardableResult
func attempt<Value: ~Copyable>(
    _ attempt: String, _ path: String, _ body: () throws(SystemCallError) -> Value
) throws(TokenStoreError) -> Value {
    do {
        return try body()
    } catch {
        throw .system(error, attempt, path)
    }
}
