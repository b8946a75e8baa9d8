import AuthInterface
import Foundation

/// The files with which processes share an account whose tokens are not in a file: one is locked for the lease, one for
/// the milliseconds of an update, and one is touched by each write. The holder of the lease writes its name into the
/// first; the others are empty.
struct TokenLocks: Sendable {
    let folder: String
    let name: String

    /// Takes the lease if it is free and the request is first in the queue.
    func tryLease(_ request: LeaseRequest) throws(TokenStoreError) -> FolderLock? {
        try request.attempt(in: PrivateFolder.openOrCreate(folder), name + ".lease")
    }

    func leaseHolder() -> LeaseHolder? { (try? PrivateFolder.open(folder))?.leaseHolder(name + ".lease") }

    /// A stream of the writes of this process and others, see ``reportWrite()``.
    var changes: AsyncStream<Void> {
        // Every folder on the way may be missing until the first write.
        let watched = TokenFolder(path: folder, anchor: "/", access: .owner, known: KnownFolders())
        return FileChanges.stream(of: changeName, in: watched)
    }

    /// Touches the file that is watched. If that is not possible, the other processes read the store at their next
    /// refresh.
    func reportWrite() {
        guard let folder = try? PrivateFolder.open(folder) else { return }
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let file = openat(folder.descriptor.number, changeName, flags, 0o600)
        if file >= 0 { close(file) }
    }

    private var changeName: String { name + ".changed" }

    /// Runs a write under the write lock. It blocks the thread while another process has the lock.
    func whileWriting<Value>(_ write: () throws(TokenStoreError) -> Value) throws(TokenStoreError) -> Value {
        let lock = try PrivateFolder.openOrCreate(folder).lock(name + ".lock", waitingAtMost: TokenFile.writeLimit)
        defer { lock.release() }
        return try write()
    }
}

/// A lease that is a lock on a file.
final class LockedTokenStoreLease: TokenStoreLease {
    private let lock: FolderLock

    /// Whether the path of the lock can be asked about without waiting for a network.
    private let isLocal: Bool

    init(lock: FolderLock) {
        self.lock = lock
        isLocal = lock.file.map { FileSystemKind(device: $0.device) != .network } ?? false
    }

    /// The locked file. Its inode is not used again while a process has it open, so an intent that names the file which
    /// is locked now was recorded by a holder that has released it, or has ended.
    var identity: String? { lock.file.map { "\($0.device):\($0.inode)" } }

    /// The kernel of this host releases the lock of a process when it ends, not before. It does not know holders on
    /// other hosts that share the file system, nor holders of another file that was at this path. An intent without a
    /// lease does not say which file its owner had locked.
    func mayStillCall(_ intent: RefreshIntent) -> Bool {
        intent.owner.host != ProcessIdentity.current.host || intent.lease == nil || intent.lease != identity
    }

    /// A file that was removed or replaced, or whose folder was, does not exclude the processes that lock the one which
    /// is at its path now. On a network file system, where the question may never return, it is not asked.
    var isLost: Bool { isLocal && !lock.isAtItsPath }

    func release() async { lock.release() }
}
