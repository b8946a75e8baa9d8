import AuthInterface

/// A lease that is a lock on a file.
final class LockedTokenStoreLease: TokenStoreLease {
    private let lock: FolderLock

    init(lock: FolderLock) {
        self.lock = lock
    }

    /// The kernel of this host releases the lock of a process when it ends, not before. It does not know holders on
    /// other hosts that share the file system.
    func mayStillCall(_ owner: ProcessIdentity) -> Bool { owner.host != ProcessIdentity.current.host }

    /// The kernel keeps the lock as long as this process lives.
    var isLost: Bool { false }

    func release() async { lock.release() }
}
