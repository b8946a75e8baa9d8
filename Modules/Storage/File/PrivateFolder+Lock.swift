import AuthInterface
import ConcurrencyPrimitives
import Foundation

extension PrivateFolder {
    /// Takes a lock if it is free.
    ///
    /// - Parameter name: The lock file. It is created if it is missing.
    /// - Returns: The lock, or `nil` if it is held by this process or another one.
    /// - Throws: ``TokenStoreError`` with code `insecure` when the lock file is a link, not a regular file or another
    ///   user's; `unavailable`.
    func tryLock(_ name: String) throws(TokenStoreError) -> FolderLock? {
        let path = path(of: name)
        while true {
            let lock = try open(lockFile: name, path)
            let status = try attempt("inspect", path) { () throws(SystemCallError) in try lock.status() }
            try FileSafety(kind: .file, access: access).checkOwner(status, path)
            do {
                try uninterrupted { flock(lock.number, LOCK_EX | LOCK_NB) }
            } catch let error where error.number == EWOULDBLOCK {
                return nil
            } catch {
                throw .system(error, "lock", path)
            }
            // The file may have been removed since it was opened. A lock on it would not exclude other processes.
            if isStill(status, at: name) { return FolderLock(number: lock.takeNumber()) }
        }
    }

    /// Takes a lock, and waits for it if necessary. It blocks the thread.
    ///
    /// Holders release it after a few milliseconds, unless they are stopped.
    ///
    /// - Throws: ``TokenStoreError`` with code `busy` after `limit`; otherwise as ``tryLock(_:)``.
    func lock(_ name: String, waitingAtMost limit: Duration) throws(TokenStoreError) -> FolderLock {
        let deadline = ContinuousClock.now + limit
        while true {
            if let lock = try tryLock(name) { return lock }
            try Self.pause(before: deadline, path(of: name), limit)
        }
    }

    /// Locks a folder itself, without a lock file. It blocks the thread, as ``lock(_:waitingAtMost:)`` does.
    ///
    /// On a file system that cannot lock folders, such as NFS, it does not exclude other processes.
    ///
    /// - Throws: ``TokenStoreError`` with code `busy` after `limit`; `unavailable` when the folder is missing.
    static func lockFolder(_ path: String, waitingAtMost limit: Duration) throws(TokenStoreError) -> FolderLock {
        let deadline = ContinuousClock.now + limit
        let folder = try attempt("open the folder", path) { () throws(SystemCallError) in
            Descriptor(number: try uninterrupted { systemOpen(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        }
        while flock(folder.number, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR {
            try pause(before: deadline, path, limit)
        }
        return FolderLock(number: folder.takeNumber())
    }

    /// Waits half a millisecond.
    private static func pause(
        before deadline: ContinuousClock.Instant,
        _ path: String,
        _ limit: Duration
    ) throws(TokenStoreError) {
        guard ContinuousClock.now < deadline else {
            throw TokenStoreError(
                .busy,
                reason: "another process has held the lock on \(path) for \(limit.inWords); it may be suspended: "
                    + "resume or end it"
            )
        }
        usleep(500)
    }

    private func open(lockFile name: String, _ path: String) throws(TokenStoreError) -> Descriptor {
        do {
            let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
            let lock = Descriptor(number: try uninterrupted { openat(descriptor.number, name, flags, access.fileMode) })
            // The umask may have removed the group's bits. (The call fails for another user's file, which has them.)
            if access == .group { fchmod(lock.number, access.fileMode) }
            return lock
        } catch let error where error.number == ELOOP {
            throw FileSafety.file.symbolicLink(path)
        } catch {
            throw .system(error, "open", path)
        }
    }

    private func isStill(_ status: stat, at name: String) -> Bool {
        var now = stat()
        return fstatat(descriptor.number, name, &now, AT_SYMLINK_NOFOLLOW) == 0
            && now.st_ino == status.st_ino && now.st_dev == status.st_dev
    }
}

/// An exclusive `flock` on a separate file, until ``release()`` or the death of the process.
///
/// The file with the tokens is never locked: every save replaces it, and two processes would hold locks on two files. A
/// lock file is empty and must not be removed, for the same reason.
final class FolderLock: Sendable {
    private let number: Locked<Int32?>

    init(number: Int32) {
        self.number = Locked(number)
    }

    deinit { release() }

    /// Releases the lock. A second call does nothing.
    func release() {
        number.withLock { number in
            if let open = number {
                // A child forked in between may share the open file: closing it here would not unlock it.
                flock(open, LOCK_UN)
                close(open)
            }
            number = nil
        }
    }
}
