public import AuthInterface
public import ConcurrencyPrimitives
public import Foundation

/// Keeps the session of one account in a file that only its owner can read, shared by all processes of that user.
///
/// **The file.** `FOLDER/ACCOUNT.json`, mode 0600, in a folder of mode 0700 that the first sign-in creates. A file or
/// folder that other users have a right on, that belongs to another user or is a symbolic link is refused with code
/// `insecure` and the command that fixes it. It is not changed or deleted.
///
/// **A missing folder** is `unavailable`, not empty (G14), if this store has used it, if its parent (or `HOME`, or
/// `XDG_STATE_HOME`) does not exist, or if it is on another disk that is not mounted. Only a sign-in creates a folder,
/// and only if its parent exists.
///
/// **Writing** is atomic and durable (G12): a new file is on the disk before it replaces the old one, under a lock that
/// is held for milliseconds. A call runs on a dedicated thread, and to its end even if the task that waits for it is
/// cancelled.
///
/// **A file that cannot be read as a session** is `corrupt` to every read of every process, until an update replaces
/// it. No copy is kept: it would keep tokens after a sign-out. A checksum detects every flipped bit.
///
/// **Sharing** (G13): a lease is an exclusive `flock` on `ACCOUNT.json.lease`; the system releases it when its holder
/// dies. It excludes other leases only: an update never waits for it.
///
/// It protects against other users of the machine, not against other programs of the same user, nor against a thief of
/// the disk or of a backup: use the Keychain or the Secret Service for that.
public struct FileTokenStore: SharedTokenStore {
    /// The file.
    public let file: URL

    private let tokens: TokenFile
    private let clock: any TimeSource

    // Separate queues, so that a read never waits for an update that waits for another process.
    private let reading = BlockingQueue(label: "token-file-reading")
    private let writing = BlockingQueue(label: "token-file-writing")
    private let leasing = BlockingQueue(label: "token-file-leasing")

    /// Creates a store in a folder of your choice. The folder is not accessed before the first call.
    ///
    /// - Parameters:
    ///   - folder: A folder for tokens only. The first sign-in creates it; its parent must exist.
    ///   - account: The name of the account in this folder: any text.
    ///   - access: Who may use the folder and the files in it.
    ///   - clock: The clock that limits the wait for a lease.
    public init(
        folder: URL, account: String = "default", access: FolderAccess = .owner,
        clock: any TimeSource = SystemTimeSource()
    ) { self.init(folder: folder, account: account, anchor: nil, access: access, clock: clock) }

    /// Creates a store of an account (any text) in the default folder of an application, such as `articles` or
    /// `org.example.articles`. The folder is not accessed before the first call. The clock limits the wait for a lease.
    public init(application: String, account: String = "default", clock: any TimeSource = SystemTimeSource()) {
        let location = TokenFolderLocation.standard(application: application)
        self.init(folder: location.folder, account: account, anchor: location.anchor, clock: clock)
    }

    init(
        folder: URL,
        account: String = "default",
        anchor: URL?,
        access: FolderAccess = .owner,
        known: KnownFolders = KnownFolders(),
        writeLimit: Duration = TokenFile.writeLimit,
        clock: any TimeSource = SystemTimeSource()
    ) {
        let folder = folder.standardizedFileURL
        tokens = TokenFile(
            folder: TokenFolder(
                path: folder.path, anchor: (anchor ?? folder.deletingLastPathComponent()).path, access: access,
                known: known),
            name: AccountName.fileName(for: account),
            writeLimit: writeLimit)
        file = folder.appendingPathComponent(tokens.name)
        self.clock = clock
    }

    /// Reads what is stored; `.empty` only when that is certain.
    ///
    /// - Throws: `TokenStoreError` with code `insecure`, `corrupt`, `unsupportedVersion` or `unavailable`.
    public func read() async throws -> StoredSession {
        try await reading.run { [tokens] () throws(TokenStoreError) in try tokens.read() }
    }

    /// Reads what is stored, decides on a thread of the store and writes, as one step that no other process can
    /// interrupt.
    ///
    /// - Throws: `TokenStoreError`; the stored content is then unchanged: `insecure`; `unsupportedVersion`; `busy`
    ///   when another process has held the write lock for 10 seconds, for example because it is stopped; `unavailable`.
    ///   When only the last `fsync` of the folder fails, the new content is stored in spite of the error.
    public func update(_ change: @escaping StoreChange) async throws {
        try await writing.run { [tokens] () throws(TokenStoreError) in try tokens.update(change) }
    }

    /// Removes the file without reading it, with any mode.
    ///
    /// - Throws: `TokenStoreError`: `insecure` when it is a symbolic link, not a regular file or another user's;
    ///   `busy` as for ``update(_:)``; `unavailable`.
    public func delete() async throws {
        try await writing.run { [tokens] () throws(TokenStoreError) in try tokens.delete() }
    }

    /// Waits until no other holder has the lease, and takes it.
    ///
    /// A lease is released by its holder, when it is deallocated, or when its process ends. Waiters of all processes
    /// get it in the order of their arrival; those that are stopped or have ended are skipped. A holder
    /// writes its name into the file that it has locked.
    ///
    /// - Throws: `TokenStoreError`: `busy` when the limit passes first; `insecure`; `unavailable`, also when the
    ///   folder does not exist yet: a lease does not create it. `CancellationError` when the task is cancelled while it
    ///   waits.
    public func lease(
        waitingAtMost limit: Duration, whileHeld report: @escaping @Sendable (LeaseHolder) -> Void
    ) async throws -> any TokenStoreLease {
        let request = LeaseRequest(clock: clock)
        let polling = LeasePolling(
            clock: clock, holder: { await leasing.run { [tokens] in tokens.leaseHolder() } }, report: report)
        let lock = try await polling.wait(atMost: limit, pausingAtMost: { request.longestPause }) {
            try await leasing.run { [tokens] () throws(TokenStoreError) in try tokens.tryLease(request) }
        }
        return LockedTokenStoreLease(lock: lock)
    }

    /// Reports writes of this process and others. Each access makes a new stream.
    ///
    /// One descriptor of the process watches all folders (inotify; on Apple's systems a source for each stream). The
    /// stream ends when the folder is removed, renamed or unmounted. It ends at once on a network file system, where
    /// changes of other hosts are not reported. The unmounting of a disk that is in use or mounted twice is not
    /// reported.
    public var changes: AsyncStream<Void> { FileChanges.stream(of: tokens.name, in: tokens.folder) }
}

extension FileTokenStore: CustomStringConvertible {
    /// Where the tokens are.
    public var description: String { "FileTokenStore(\(file.path))" }
}
