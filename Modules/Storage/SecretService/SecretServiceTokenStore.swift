#if os(Linux)
public import AuthInterface
public import ConcurrencyPrimitives
public import Foundation

/// Keeps the tokens of one account in the desktop's keyring (the Secret Service of GNOME Keyring, KWallet and others),
/// encrypted on the disk with the user's password, and shared by all processes of that user.
///
/// **Three answers** (G14). libsecret is looked for when the first call is made; nothing is needed to build. Where it is
/// not installed, no session bus or service is there, there is no default keyring, or the keyring is locked, every call
/// throws with code `unavailable`: a locked keyring answers a search as if it were empty. The store never makes the
/// service ask the user for a password, because a refresh in the background would open a dialog without a cause that
/// the user can see.
///
/// **Waiting.** Each account has a thread of its own for reading and one for writing. Each call is answered within
/// ``answerLimit``, however many accounts wait for a service that hangs. GLib is told not to end the process when the
/// session bus goes away, as it otherwise does.
///
/// **An item that cannot be read as a session** is reported with code `corrupt` by every read, until an update replaces
/// or removes it.
///
/// **Sharing** (G13): a lease is an exclusive `flock` on a file in the application's state folder, and a write holds
/// another such lock for as long as it takes. A third file is touched by each write, for ``changes``. There is no token
/// in any of them.
///
/// It protects against other users and against a thief of the disk. It does not protect against other programs of the
/// same user: while the keyring is unlocked, the service hands every item to any of them.
public struct SecretServiceTokenStore: SharedTokenStore {
    /// The application whose tokens they are.
    public let application: String

    /// Tells the accounts of the application apart.
    public let account: String

    /// How long a read or a write takes at most.
    public let answerLimit: Duration

    private let keyring: Keyring
    private let locks: TokenLocks
    private let clock: any TimeSource

    // Apart, so that a read never waits for a write that waits for another process.
    private let reading: TimedCallQueue
    private let writing: TimedCallQueue
    private let leasing = BlockingQueue(label: "token-keyring-leasing")

    /// Creates a store. Nothing is looked for before the first call.
    ///
    /// - Parameters:
    ///   - application: The application whose tokens they are, such as `articles` or `org.example.articles`.
    ///   - account: Tells the accounts of the application apart. Any text will do.
    ///   - lockFolder: A folder for the files that processes lock, which has to be the same for all of them. By
    ///     default it is that of ``FileTokenStore/init(application:account:time:)``.
    ///   - answerLimit: How long a read or a write takes at most. A service that works takes milliseconds.
    ///   - clock: The clocks that limit the wait for a lease and for the service.
    public init(
        application: String,
        account: String = "default",
        lockFolder: URL? = nil,
        answerLimit: Duration = .seconds(20),
        clock: any TimeSource = SystemTimeSource()
    ) {
        self.application = application
        self.account = account
        self.answerLimit = answerLimit
        self.clock = clock
        keyring = Keyring(account: KeyringAccount(application: application, account: account))
        let folder = lockFolder ?? TokenFolderLocation.standard(application: application).folder
        let name = AccountName.fileName(for: account) + ".keyring"
        locks = TokenLocks(folder: folder.standardizedFileURL.path, name: name)
        reading = TimedCallQueue(label: "token-keyring-reading", clock: clock)
        writing = TimedCallQueue(label: "token-keyring-writing", clock: clock)
    }

    /// Reads what is stored, the note of an ended session included.
    ///
    /// - Returns: What is stored. `.empty` only when the default keyring is there and open, and has no item.
    /// - Throws: ``TokenStoreError`` with code `corrupt`, `unsupportedVersion` or `unavailable`.
    public func read() async throws -> StoredSession {
        let deadline = conversationDeadline
        return try await reading.run(within: answerLimit) { [keyring] () throws(TokenStoreError) in
            try keyring.read(until: deadline)
        }
    }

    /// Reads what is stored, decides and writes, as one step that no other process can interrupt.
    ///
    /// - Parameter change: Decides what to store, from what is stored.
    /// - Throws: ``TokenStoreError``: `unsupportedVersion`; `insecure` when the lock file is a link or belongs to
    ///   another user; `busy` when another process has been writing for 5 seconds; `unavailable`. What was stored
    ///   before is then still there, unless the service stopped answering when it had the new content.
    public func update(
        _ change: @escaping @Sendable (Result<StoredSession, TokenStoreError>) -> StoredSession?
    ) async throws {
        try await write { keyring, deadline throws(TokenStoreError) in
            try keyring.update(until: deadline, change)
        }
    }

    /// Removes what is stored, even an item that cannot be read or that a later version has written.
    ///
    /// - Throws: ``TokenStoreError`` with code `unavailable`, `insecure` or `busy`, as for ``update(_:)``.
    public func delete() async throws {
        try await write { keyring, deadline throws(TokenStoreError) in
            try keyring.delete(until: deadline)
            return true
        }
    }

    /// Waits until no other holder has the lease, and takes it.
    ///
    /// A lease is released by its holder, when it is dropped, or when its process dies. Waiters of all processes get it
    /// in the order in which they came, but for one that is stopped or gone.
    ///
    /// - Parameter limit: How long to wait at most.
    /// - Returns: The lease.
    /// - Throws: ``TokenStoreError``: `busy` when the limit passes first; `insecure`; `unavailable`.
    ///   `CancellationError` when the task is cancelled while it waits.
    public func lease(waitingAtMost limit: Duration) async throws -> any TokenStoreLease {
        let request = LeaseRequest()
        let lock = try await LeasePolling(clock: clock).wait(atMost: limit, pausingAtMost: { request.longestPause }) {
            try await leasing.run { [locks] () throws(TokenStoreError) in try locks.tryLease(request) }
        }
        return LockedTokenStoreLease(lock: lock)
    }

    /// Reports that the item may have changed, by this process or another one that uses Latchkey.
    ///
    /// Each access makes a stream of its own. It watches a file beside the locks, which each write touches, and ends as
    /// ``FileTokenStore/changes`` does. The Secret Service's own reports are not used: they need a main loop of GLib.
    public var changes: AsyncStream<Void> { locks.changes }

    /// When a conversation is given up. The rest of the limit is for GLib to end it: a call that has ended makes room for
    /// the next one.
    private var conversationDeadline: ContinuousClock.Instant { .now + answerLimit * 9 / 10 }

    /// Runs a write under the write lock, and reports it if there was something to write.
    private func write(
        _ body: @escaping @Sendable (Keyring, ContinuousClock.Instant) throws(TokenStoreError) -> Bool
    ) async throws {
        let deadline = conversationDeadline
        try await writing.run(within: answerLimit) { [keyring, locks] () throws(TokenStoreError) in
            let isWritten = try locks.whileWriting { () throws(TokenStoreError) in try body(keyring, deadline) }
            if isWritten { locks.reportWrite() }
        }
    }
}

extension SecretServiceTokenStore: CustomStringConvertible {
    /// Whose tokens they are.
    public var description: String { "SecretServiceTokenStore(\(application), \(account))" }
}
#endif
