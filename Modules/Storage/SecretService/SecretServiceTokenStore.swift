#if os(Linux)
public import AuthInterface
public import ConcurrencyPrimitives
public import Foundation

/// Keeps the tokens of one account in the desktop's keyring (the Secret Service of GNOME Keyring, KWallet and others),
/// encrypted on the disk with the user's password, and shared by all processes of that user.
///
/// **Reading** (G14). libsecret is loaded by the first call; nothing is needed to build. If it is not installed, if
/// there is no session bus, service or default keyring, or if the keyring is locked, every call throws with code
/// `unavailable`, because a search in a locked keyring finds nothing. The store never makes the service ask the user
/// for a password: a refresh in the background would open a dialog without a visible cause.
///
/// **Time limits.** Each account has a thread for reading and one for writing. Each call ends within `callLimit`,
/// however many accounts wait for a service that hangs. GLib's default, to end the process when the session bus is
/// closed, is switched off.
///
/// **An item that cannot be read as a session** is reported with code `corrupt` by every read, until an update replaces
/// or removes it.
///
/// **Sharing** (G13): a lease is an exclusive `flock` on a file in the application's state folder, and an update holds
/// another such lock. A third file is touched by each write, for ``changes``. None has a token in it.
///
/// It protects against other users and against a thief of the disk. It does not protect against other programs of the
/// same user, which can read every item while the keyring is unlocked.
public struct SecretServiceTokenStore: SharedTokenStore {
    let application: String
    package let account: String
    let callLimit: Duration

    private let keyring: Keyring
    private let locks: TokenLocks
    private let clock: any TimeSource

    // Separate queues, so that a read never waits for a write that waits for another process.
    private let reading: TimedCallQueue
    private let writing: TimedCallQueue
    private let leasing = BlockingQueue(label: "token-keyring-leasing")

    /// Creates a store. The service is not accessed before the first call.
    ///
    /// - Parameters:
    ///   - application: The name of the application, such as `articles` or `org.example.articles`.
    ///   - account: The account in this application: any text.
    ///   - lockFolder: A folder for the lock files, the same for all processes. `nil`: that of
    ///     ``FileTokenStore/init(application:account:clock:)``.
    ///   - callLimit: How long a read or a write takes at most. Usually it takes milliseconds.
    ///   - clock: The clocks that limit the wait for a lease and for the service.
    public init(
        application: String, account: String = "default", lockFolder: URL? = nil, callLimit: Duration = .seconds(20),
        clock: any TimeSource = SystemTimeSource()
    ) {
        self.application = application
        self.account = account
        self.callLimit = callLimit
        self.clock = clock
        keyring = Keyring(account: KeyringAccount(application: application, account: account))
        let folder = lockFolder ?? TokenFolderLocation.standard(application: application).folder
        let name = AccountName.fileName(for: account) + ".keyring"
        locks = TokenLocks(folder: folder.standardizedFileURL.path, name: name)
        reading = TimedCallQueue(label: "token-keyring-reading", clock: clock)
        writing = TimedCallQueue(label: "token-keyring-writing", clock: clock)
    }

    /// Reads the stored session, or the tombstone of an ended one; `.empty` only if the default keyring is unlocked and
    /// has no item.
    ///
    /// - Throws: `TokenStoreError` with code `corrupt`, `unsupportedVersion` or `unavailable`.
    public func read() async throws -> StoredSession {
        let deadline = serviceDeadline
        return try await reading.run(within: callLimit) { [keyring] () throws(TokenStoreError) in
            try keyring.read(until: deadline)
        }
    }

    /// Reads what is stored, decides and writes, as one step that no other process can interrupt.
    ///
    /// - Throws: `TokenStoreError`: `unsupportedVersion`; `insecure` when the lock file is a link or belongs to
    ///   another user; `busy` when another process has been writing for 10 seconds; `unavailable`. The stored
    ///   content is then unchanged, unless the service has received the new content and then failed.
    public func update(_ change: @escaping StoreChange) async throws {
        try await write { keyring, deadline throws(TokenStoreError) in
            try keyring.update(until: deadline, change)
        }
    }

    /// Removes what is stored, even an item that cannot be read or that a later version has written.
    ///
    /// - Throws: `TokenStoreError` with code `unavailable`, `insecure` or `busy`, as for ``update(_:)``.
    public func delete() async throws {
        try await write { keyring, deadline throws(TokenStoreError) in
            try keyring.delete(until: deadline)
            return true
        }
    }

    /// Waits until no other holder has the lease, and takes it: see ``FileTokenStore/lease(waitingAtMost:whileHeld:)``.
    ///
    /// - Throws: `TokenStoreError`: `busy` when the limit passes first; `insecure`; `unavailable`.
    ///   `CancellationError` when the task is cancelled while it waits.
    public func lease(
        waitingAtMost limit: Duration, whileHeld report: @escaping @Sendable (LeaseHolder) -> Void
    ) async throws -> any TokenStoreLease {
        let request = LeaseRequest(clock: clock)
        let polling = LeasePolling(
            clock: clock, holder: { await leasing.run { [locks] in locks.leaseHolder() } }, report: report)
        let lock = try await polling.wait(atMost: limit, pausingAtMost: { request.longestPause }) {
            try await leasing.run { [locks] () throws(TokenStoreError) in try locks.tryLease(request) }
        }
        return LockedTokenStoreLease(lock: lock)
    }

    /// Reports that the item may have changed, by this process or another one that uses Latchkey.
    ///
    /// Each access makes a new stream. It watches a file beside the lock files, which each write touches, and ends as
    /// ``FileTokenStore/changes`` does. The signals of the Secret Service are not used: they need a main loop of GLib.
    public var changes: AsyncStream<Void> { locks.changes }

    /// The deadline of the service's calls. The rest of the limit is for GLib to end them, so that the thread is free
    /// for the next call.
    private var serviceDeadline: ContinuousClock.Instant { .now + callLimit * 9 / 10 }

    /// Runs a write under the write lock, and reports it if something was written.
    private func write(
        _ body: @escaping @Sendable (Keyring, ContinuousClock.Instant) throws(TokenStoreError) -> Bool
    ) async throws {
        let deadline = serviceDeadline
        try await writing.run(within: callLimit) { [keyring, locks] () throws(TokenStoreError) in
            let isWritten = try locks.whileWriting { () throws(TokenStoreError) in try body(keyring, deadline) }
            if isWritten { locks.reportWrite() }
        }
    }
}

extension SecretServiceTokenStore: CustomStringConvertible {
    /// The application and the account.
    public var description: String { "SecretServiceTokenStore(\(application), \(account))" }
}
#endif
