import AuthInterface
import Foundation

/// The file by which processes that share an item exclude each other, and one beside it.
///
/// The file itself is locked by the holder of a lease; the other one, with `.writing` behind its name, for the moment
/// between the look at what is stored and the write.
struct KeychainLockFile: Sendable {
    private let folder: String
    private let name: String

    /// How long a write waits for the writes of others.
    private let writingLimit: Duration

    init(_ file: URL, writingLimit: Duration = TokenFile.saveLimit) {
        let file = file.standardizedFileURL
        folder = file.deletingLastPathComponent().path
        name = file.lastPathComponent
        self.writingLimit = writingLimit
    }

    /// Takes the lease if it is free.
    func tryLease() throws(TokenStoreError) -> FolderLock? {
        try open().tryLock(name)
    }

    /// Waits for others to end their write, on a thread that may be blocked.
    func lockForWriting() throws(TokenStoreError) -> FolderLock {
        try open().lock(name + ".writing", waitingAtMost: writingLimit)
    }

    /// The folder need not be private, for there is no secret in it: the container of an app group is not.
    private func open() throws(TokenStoreError) -> PrivateFolder {
        if let folder = try PrivateFolder.open(folder, isModeChecked: false) { return folder }
        return try PrivateFolder.openOrCreate(folder)
    }
}
