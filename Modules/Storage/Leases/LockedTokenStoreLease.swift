import AuthInterface

/// A lease that is a lock on a file.
final class LockedTokenStoreLease: TokenStoreLease {
    private let lock: FolderLock

    init(lock: FolderLock) {
        self.lock = lock
    }

    /// The kernel of this host releases the lock when its holder dies, and gives it out after that only. It knows
    /// nothing of holders on other hosts that share the file system.
    func mayStillCall(_ owner: ProcessIdentity) -> Bool { owner.host != ProcessIdentity.current.host }

    func release() async { lock.release() }
}
