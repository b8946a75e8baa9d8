public import AuthInterface
public import Foundation

/// Keeps the tokens of one account in a file that only its owner can read, shared by all processes of that user.
///
/// **The file.** `FOLDER/ACCOUNT.json`, mode 0600, in a folder of mode 0700 that is made when it is missing. A file or
/// folder that anybody else has a right on, that belongs to somebody else or is a symbolic link is refused with code
/// `insecure` and the command that mends it. It is never mended silently, and never deleted because of it.
///
/// **Writing** is atomic and durable (G12): a new file, on the disk before it takes the old one's name. Calls run to
/// their end on a thread of their own, even when the task that waits for them is cancelled, and two processes that
/// save at once do so one after the other.
///
/// **A file that cannot be read as tokens** is reported with code `corrupt` by every ``load()``, in this process and
/// all others, until somebody who knows better comes: ``save(_:)`` sets it aside as `ACCOUNT.json.corrupt-DATE`, kept
/// for whoever wants to look, and stores the new tokens; ``delete()`` removes it. So it never turns into "nobody is
/// signed in" by itself, and the user can sign in again at once. A file of a later version (`unsupportedVersion`) is
/// touched by nothing but ``delete()``.
///
/// **Sharing** (G13): a lease is an exclusive `flock` on `ACCOUNT.json.lease`; the system lets go of it when its holder
/// dies. It keeps other leases out, not plain calls: a user can sign out while another process refreshes.
///
/// It protects against other users of the machine, not against other programs of the same user, nor against whoever
/// reads the disk or a backup of it: for those there are the Keychain and the Secret Service.
public struct FileTokenStore: TransitionalSharedStore {
    /// The file.
    public let file: URL

    private let tokens: TokenFile
    private let time: any TimeSource

    // Apart, so that a load never waits for a save that waits for another process.
    private let reading = BlockingQueue(label: "token-file-reading")
    private let writing = BlockingQueue(label: "token-file-writing")

    /// Creates a store in a folder of your choice. Nothing is touched before the first call.
    ///
    /// - Parameters:
    ///   - folder: A folder of its own for tokens. It is made (mode 0700) at the first save.
    ///   - account: Tells the accounts of one folder apart. Any text will do.
    ///   - time: The clocks that limit the wait for a lease and date a file that is set aside.
    public init(folder: URL, account: String = "default", time: any TimeSource = SystemTimeSource()) {
        self.init(folder: folder, account: account, anchor: nil, time: time)
    }

    /// Creates a store in the usual folder of an application. Nothing is touched before the first call.
    ///
    /// - Parameters:
    ///   - application: The name of the application's folder, such as `articles` or `org.example.articles`.
    ///   - account: Tells the accounts of the application apart. Any text will do.
    ///   - time: The clocks that limit the wait for a lease and date a file that is set aside.
    public init(application: String, account: String = "default", time: any TimeSource = SystemTimeSource()) {
        let location = TokenFolderLocation.standard(application: application)
        self.init(folder: location.folder, account: account, anchor: location.anchor, time: time)
    }

    private init(folder: URL, account: String, anchor: URL?, time: any TimeSource) {
        tokens = TokenFile(
            folder: folder.standardizedFileURL.path,
            name: AccountName.fileName(for: account),
            anchor: anchor?.path
        )
        file = folder.appendingPathComponent(tokens.name)
        self.time = time
    }

    /// Reads the stored bundle.
    ///
    /// - Returns: The bundle, or `nil` if there is no file.
    /// - Throws: ``TokenStoreError`` with code `insecure`, `corrupt`, `unsupportedVersion` or `unavailable`.
    public func load() async throws -> TokenBundle? {
        try await reading.run { [tokens] () throws(TokenStoreError) in try tokens.load() }
    }

    /// Stores a bundle in place of any that is there.
    ///
    /// - Parameter bundle: The bundle to store.
    /// - Throws: ``TokenStoreError``, with what was stored before still there: `superseded` when a later bundle of the
    ///   same session is there; `insecure`; `unsupportedVersion`; `busy` when another process has been saving for 5
    ///   seconds; `unavailable`. Only when the system could not promise that the bundle survives a power failure is
    ///   the new one there in spite of an error.
    public func save(_ bundle: TokenBundle) async throws {
        try await writing.run { [tokens, time] () throws(TokenStoreError) in try tokens.save(bundle, at: time.date) }
    }

    /// Removes the file, and what killed writers have left of it. Files that were set aside stay.
    ///
    /// - Throws: ``TokenStoreError``: `insecure` when it is a symbolic link, no regular file or somebody else's; a
    ///   wrong mode is no reason to leave it there. `busy` when another process has been saving for 5 seconds;
    ///   `unavailable`.
    public func delete() async throws {
        try await writing.run { [tokens] () throws(TokenStoreError) in try tokens.delete() }
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
            try await writing.run { [tokens] () throws(TokenStoreError) in try tokens.tryLease() }
        }
        return LockedTokenStoreLease(store: self, lock: lock)
    }
}

extension FileTokenStore: CustomStringConvertible {
    /// Where the tokens are.
    public var description: String { "FileTokenStore(\(file.path))" }
}
