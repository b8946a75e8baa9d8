import AuthInterface
import Foundation

/// The lock files of the processes that share an item.
///
/// The file itself is locked for a lease. A second file, with the suffix `.writing`, is locked for the milliseconds of
/// an update.
struct KeychainLockFile: Sendable {
    private let folder: String
    private let name: String

    /// How long a write waits for the write of another process.
    private let writingLimit: Duration

    init(_ file: URL, writingLimit: Duration = TokenFile.writeLimit) {
        let file = file.standardizedFileURL
        folder = file.deletingLastPathComponent().path
        name = file.lastPathComponent
        self.writingLimit = writingLimit
    }

    func tryLease() throws(TokenStoreError) -> FolderLock? { try open().tryLease(name) }

    func leaseHolder() -> LeaseHolder? { (try? open())?.leaseHolder(name) }

    /// Waits until no other process writes. It blocks the thread.
    func lockForWriting() throws(TokenStoreError) -> FolderLock {
        try open().lock(name + ".writing", waitingAtMost: writingLimit)
    }

    /// The folder need not be private, because it contains no secret: the container of an app group is not.
    private func open() throws(TokenStoreError) -> PrivateFolder {
        try PrivateFolder.openOrCreate(folder, isModeChecked: false)
    }
}
