#if os(Linux)
public import AuthInterface
public import Foundation

/// Keeps the tokens of one account in the desktop's keyring (the Secret Service of GNOME Keyring, KWallet and others),
/// encrypted on the disk with the user's password, and shared by all processes of that user.
///
/// libsecret is looked for when the first call is made; nothing is needed to build. Where it is not installed, no
/// session bus or service is there, or the keyring is locked, every call throws with code `unavailable`: a locked
/// keyring answers a search as if it were empty, and must not be believed (G14). The store never makes the service ask
/// the user for a password, because a refresh in the background would open a dialog nobody expects; and it waits for
/// an answer on a thread of its own, for a limited time, even when the task that waits for it is cancelled. GLib is told
/// not to end the process when the session bus goes away, as it otherwise does.
///
/// An item that cannot be read as tokens is treated as ``FileTokenStore`` treats such a file: `corrupt` until the next
/// save sets it aside, as another item, or a delete removes it.
///
/// **Sharing** (G13): a lease is an exclusive `flock` on a file in the application's state folder. It keeps other
/// leases out, not plain calls.
///
/// It protects against other users and against whoever reads the disk. It does not protect against other programs of
/// the same user: while the keyring is unlocked, the service hands every item to any of them.
public struct SecretServiceTokenStore: TransitionalSharedStore {
    /// The application whose tokens they are.
    public let application: String

    /// Tells the accounts of the application apart.
    public let account: String

    private let keyring: Keyring
    private let locks: TokenLocks
    private let time: any TimeSource

    // One for all stores: libsecret has one connection for the process.
    private static let talking = BlockingQueue(label: "token-keyring-talking")
    private let waiting = BlockingQueue(label: "token-keyring-waiting")

    /// Creates a store. Nothing is looked for before the first call.
    ///
    /// - Parameters:
    ///   - application: The application whose tokens they are, such as `articles` or `org.example.articles`.
    ///   - account: Tells the accounts of the application apart. Any text will do.
    ///   - lockFolder: A folder for the files that processes lock, which has to be the same for all of them. By
    ///     default it is that of ``FileTokenStore/init(application:account:time:)``.
    ///   - answerLimit: How long one conversation with the service may take. It answers within milliseconds, or not
    ///     at all.
    ///   - time: The clocks that limit the wait for a lease and date an item that is set aside.
    public init(
        application: String,
        account: String = "default",
        lockFolder: URL? = nil,
        answerLimit: Duration = .seconds(20),
        time: any TimeSource = SystemTimeSource()
    ) {
        self.application = application
        self.account = account
        self.time = time
        keyring = Keyring(account: KeyringAccount(application: application, account: account), limit: answerLimit)
        let folder = lockFolder ?? TokenFolderLocation.standard(application: application).folder
        let name = AccountName.fileName(for: account) + ".keyring"
        locks = TokenLocks(folder: folder.standardizedFileURL.path, name: name)
    }

    /// Reads the stored bundle.
    ///
    /// - Returns: The bundle, or `nil` if the keyring is open and has none.
    /// - Throws: ``TokenStoreError`` with code `corrupt`, `unsupportedVersion` or `unavailable`.
    public func load() async throws -> TokenBundle? {
        try await Self.talking.run { [keyring] () throws(TokenStoreError) in try keyring.load() }
    }

    /// Stores a bundle in place of any that is there.
    ///
    /// - Parameter bundle: The bundle to store.
    /// - Throws: ``TokenStoreError``: `superseded` when a later bundle of the same session is there;
    ///   `unsupportedVersion`; `insecure` when the lock file is a link or somebody else's; `busy` when another process
    ///   has been saving for 5 seconds; `unavailable`. The old bundle is then still there, unless the service stopped
    ///   answering when it had the new one.
    public func save(_ bundle: TokenBundle) async throws {
        try await Self.talking.run { [keyring, locks, time] () throws(TokenStoreError) in
            try locks.whileWriting { () throws(TokenStoreError) in try keyring.save(bundle, at: time.date) }
        }
    }

    /// Removes the stored bundle, even one that cannot be read. Items that were set aside stay.
    ///
    /// - Throws: ``TokenStoreError`` with code `unavailable`; `insecure` or `busy` as for ``save(_:)``.
    public func delete() async throws {
        try await Self.talking.run { [keyring, locks] () throws(TokenStoreError) in
            try locks.whileWriting { () throws(TokenStoreError) in try keyring.delete() }
        }
    }

    /// Waits until no other holder has the store, and takes it.
    ///
    /// A lease is let go of when it is released, dropped, or its process dies. Waiters ask again and again, every
    /// twentieth of a second in the end; who comes first is left to chance.
    ///
    /// - Parameter limit: How long to wait at most.
    /// - Returns: The store as its holder uses it.
    /// - Throws: ``TokenStoreError``: `busy` when the limit passes first; `insecure`; `unavailable`.
    ///   `CancellationError` when the task is cancelled while it waits.
    public func lease(waitingAtMost limit: Duration) async throws -> any TokenStoreLease {
        let lock = try await LeasePolling(time: time).wait(atMost: limit) {
            try await waiting.run { [locks] () throws(TokenStoreError) in try locks.tryLease() }
        }
        return LockedTokenStoreLease(store: self, lock: lock)
    }
}

extension SecretServiceTokenStore: CustomStringConvertible {
    /// Whose tokens they are.
    public var description: String { "SecretServiceTokenStore(\(application), \(account))" }
}
#endif
