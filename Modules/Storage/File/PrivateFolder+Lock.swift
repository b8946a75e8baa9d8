import AuthInterface
import Foundation

/// An exclusive `flock` on a file of its own, until ``release()`` or the death of the process.
///
/// It is never put on the file with the tokens: every save puts another file in that one's place, and two processes
/// would hold "the" lock on two files. A lock file stays empty and stays where it is; to remove it while somebody
/// waits for it would split the lock in the same way.
final class FolderLock: Sendable {
    private let number: Locked<Int32?>

    fileprivate init(number: Int32) {
        self.number = Locked(number)
    }

    deinit { release() }

    /// Whether ``release()`` has not been called yet.
    var isHeld: Bool { number.withLock { $0 != nil } }

    /// Lets the next one have the lock. A second call does nothing.
    func release() {
        number.withLock { number in
            if let open = number {
                // Explicitly: a child forked in between may share the open file, and closing ours would not unlock it.
                flock(open, LOCK_UN)
                close(open)
            }
            number = nil
        }
    }
}

extension PrivateFolder {
    /// Takes a lock if nobody has it.
    ///
    /// - Parameter name: The lock file. It is made if it is missing.
    /// - Returns: The lock, or `nil` if somebody has it, be it another process or another lock of this one.
    /// - Throws: ``TokenStoreError`` with code `insecure` when the lock file is a link, no regular file or somebody
    ///   else's; `unavailable`.
    func tryLock(_ name: String) throws(TokenStoreError) -> FolderLock? {
        let path = path(of: name)
        while true {
            let lock = try open(lockFile: name, path)
            let status = try attempt("look at", path) { () throws(SystemCallError) in try lock.status() }
            try FileSafety.file.checkOwner(status, path)
            do {
                try uninterrupted { flock(lock.number, LOCK_EX | LOCK_NB) }
            } catch let error where error.number == EWOULDBLOCK {
                return nil
            } catch {
                throw .system(error, "lock", path)
            }
            // Somebody may have removed the file since it was opened: the lock on it would exclude nobody.
            if isStill(status, at: name) { return FolderLock(number: lock.takeNumber()) }
        }
    }

    /// Takes a lock, or waits for it while its holder does a few milliseconds' work.
    ///
    /// It blocks the thread, so it is for threads that may be blocked. A stopped process is the only holder that keeps
    /// it long.
    ///
    /// - Throws: ``TokenStoreError`` with code `busy` after `limit`; otherwise as ``tryLock(_:)``.
    func lock(_ name: String, waitingAtMost limit: Duration) throws(TokenStoreError) -> FolderLock {
        let deadline = ContinuousClock.now + limit
        while true {
            if let lock = try tryLock(name) { return lock }
            guard ContinuousClock.now < deadline else {
                throw TokenStoreError(.busy, reason: "another process has kept \(path(of: name)) locked for \(limit)")
            }
            usleep(500)
        }
    }

    private func open(lockFile name: String, _ path: String) throws(TokenStoreError) -> Descriptor {
        do {
            let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
            return Descriptor(number: try uninterrupted { openat(descriptor.number, name, flags, 0o600) })
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
