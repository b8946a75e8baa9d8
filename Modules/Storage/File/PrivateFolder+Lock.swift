import AuthInterface
import ConcurrencyPrimitives
import Foundation

extension PrivateFolder {
    /// Takes a lock if neither this process nor another one holds it. A missing lock file is created; one that is a
    /// link, not a regular file or another user's is `insecure`.
    func tryLock(_ name: String) throws(TokenStoreError) -> FolderLock? {
        let path = path(of: name)
        while true {
            let lock = try open(lockFile: name)
            let status = try attempt("inspect", path) { () throws(SystemCallError) in try lock.status() }
            try safety.checkOwner(status, path)
            do {
                try uninterrupted { flock(lock.number, LOCK_EX | LOCK_NB) }
            } catch let error where error.number == EWOULDBLOCK {
                return nil
            } catch {
                throw .system(error, "lock", path)
            }
            // The file may have been removed since it was opened, or the folder replaced. A lock on it would not
            // exclude other processes.
            let file = LockedFile(path: path, status)
            if file.isAtItsPath { return FolderLock(number: lock.takeNumber(), file: file) }
            guard try isAtItsPath() else { throw replaced() }
        }
    }

    /// Takes the lock of a lease if it is free, and writes this process into the lock file.
    func tryLease(_ name: String) throws(TokenStoreError) -> FolderLock? {
        guard let lock = try tryLock(name) else { return nil }
        lock.sign()
        return lock
    }

    /// The process that has the lock of a lease, if the lock file says it.
    func leaseHolder(_ name: String) -> LeaseHolder? {
        guard case .bytes(let data)? = try? read(name, atMost: 4_096) else { return nil }
        return try? JSONDecoder().decode(LeaseHolder.self, from: data)
    }

    /// Takes a lock, and waits for it if necessary; `busy` after the limit. It blocks the thread. Holders release it
    /// after a few milliseconds, unless they are stopped.
    func lock(_ name: String, waitingAtMost limit: Duration) throws(TokenStoreError) -> FolderLock {
        let deadline = ContinuousClock.now + limit
        while true {
            if let lock = try tryLock(name) { return lock }
            try Self.pause(before: deadline, path(of: name), limit)
        }
    }

    /// Locks a folder itself, without a lock file. It blocks the thread, as ``lock(_:waitingAtMost:)`` does. On a file
    /// system that cannot lock folders, such as NFS, it does not exclude other processes.
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
        before deadline: ContinuousClock.Instant, _ path: String, _ limit: Duration
    ) throws(TokenStoreError) {
        guard ContinuousClock.now < deadline else {
            throw TokenStoreError(
                .busy,
                reason: "another process has held the lock on \(path) for \(limit.inWords); it may be suspended: "
                    + "resume or end it")
        }
        usleep(500)
    }

    /// Opens a lock file. A missing one is made, and has its mode before it has its name: the umask may remove bits.
    func open(lockFile name: String) throws(TokenStoreError) -> Descriptor {
        let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        do {
            while true {
                if let lock = try openIfExists({ openat(descriptor.number, name, flags) }) { return lock }
                let unnamed = "\(name).\(String(UInt64.random(in: .min ... .max), radix: 36)).tmp"
                let lock = Descriptor(
                    number: try uninterrupted {
                        openat(descriptor.number, unnamed, flags | O_CREAT | O_EXCL, access.fileMode)
                    })
                defer { unlinkat(descriptor.number, unnamed, 0) }
                try uninterrupted { fchmod(lock.number, access.fileMode) }
                if linkat(descriptor.number, unnamed, descriptor.number, name, 0) == 0 { return lock }
                if errno == EEXIST { continue }
                // The file system has no links. Two processes may lock two files: each looks again before it writes.
                try uninterrupted { renameat(descriptor.number, unnamed, descriptor.number, name) }
            }
        } catch let error where error.number == ELOOP {
            throw safety.symbolicLink(path(of: name))
        } catch {
            throw .system(error, "open", path(of: name))
        }
    }

    func isAtItsPath() throws(TokenStoreError) -> Bool {
        let now = try attempt("inspect", path) { () throws(SystemCallError) in try descriptor.status() }
        return LockedFile(path: path, now).isAtItsPath
    }

    /// The error for a folder that was moved away while it was in use, with what was written into it.
    func replaced() -> TokenStoreError {
        TokenStoreError(.unavailable, reason: "\(path) was moved or replaced while it was in use; try again")
    }
}

/// A file or folder that is open, and its path.
struct LockedFile: Sendable {
    let path: String
    let device: UInt64
    let inode: UInt64

    init(path: String, _ status: stat) {
        self.path = path
        (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }

    var isAtItsPath: Bool {
        var now = stat()
        return lstat(path, &now) == 0 && UInt64(now.st_dev) == device && UInt64(now.st_ino) == inode
    }
}

/// An exclusive `flock` on a separate file, until ``release()`` or the death of the process.
///
/// The file with the tokens is never locked: every save replaces it, and two processes would hold locks on two files. A
/// lock file must not be removed, for the same reason. It is empty, but for the name of the holder of a lease.
final class FolderLock: Sendable {
    /// The locked file; `nil` for a folder.
    let file: LockedFile?

    private let number: Locked<Int32?>
    private let isSigned = Locked(false)

    init(number: Int32, file: LockedFile? = nil) {
        self.number = Locked(number)
        self.file = file
    }

    /// Whether the lock excludes the processes that lock the file at this path. After the release: `true`.
    var isAtItsPath: Bool {
        guard let file, number.withLock({ $0 != nil }) else { return true }
        return file.isAtItsPath
    }

    deinit { release() }

    /// Writes this process into the file, so that others can say which one they wait for. On a full disk the file stays
    /// empty.
    func sign() {
        guard let name = try? JSONEncoder().encode(LeaseHolder(process: .current, since: Date())) else { return }
        number.withLock { number in
            // What a holder has left that was killed must not be taken for the name of this one.
            guard let number, ftruncate(number, 0) == 0 else { return }
            isSigned.withLock { $0 = true }
            let count = name.withUnsafeBytes { pwrite(number, $0.baseAddress, $0.count, 0) }
            if count != name.count { ftruncate(number, 0) }
        }
    }

    /// Releases the lock. A second call does nothing.
    func release() {
        number.withLock { number in
            if let open = number {
                if isSigned.withLock({ $0 }) { ftruncate(open, 0) }
                // A child forked in between may share the open file: closing it here would not unlock it.
                flock(open, LOCK_UN)
                close(open)
            }
            number = nil
        }
    }
}
