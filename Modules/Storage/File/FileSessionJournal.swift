public import AuthInterface
public import Foundation

/// Keeps the journal of one account in a file that only its owner can read, shared by all processes of that user (G30).
///
/// **Where.** In another place than the store: beside a Keychain, a keyring or a database in the state folder of the
/// application; beside a ``FileTokenStore`` in another folder, on another file system where there is one. A disk that
/// fails, is full or is read-only then takes one of the two.
///
/// **The file.** `FOLDER/DIGEST.json`, mode 0600, in a folder of mode 0700, with a lock of its own
/// (`DIGEST.json.lock`). The digest of the account and of the name of its store has a random key, which is in the
/// folder too, with a checksum: no account can be read from a name, nor from a file. What ``FileTokenStore`` says of
/// other users' rights, of links, of missing folders and of atomic, durable writes holds here as well, by the same
/// code. An empty journal has no file.
///
/// **A journal that cannot be read** throws, and is never an empty one: a key or a file that is not what was written is
/// `corrupt`, and the error names the command that removes it; a folder that may have the journal and cannot be looked
/// into, or whose disk is absent, is `unavailable`. A file stays until an update replaces it, and a key, which is that
/// of all accounts, until it is removed. An earlier version reads the key as `corrupt`, or an end as a later version's.
public struct FileSessionJournal: SessionJournal {
    /// What keeps the tokens, as a lost session shows it.
    public let storeName: String

    private let file: JournalFile
    private let queue = BlockingQueue(label: "session-journal")

    /// Creates a journal in a folder of your choice. The folder is not accessed before the first call.
    ///
    /// - Parameters:
    ///   - folder: A folder for journals only. The first session creates it; its parent must exist.
    ///   - account: The name of the account in its store: any text. It is written nowhere.
    ///   - storeName: What keeps the tokens, as a lost session shows it, such as "the Keychain". Together with the
    ///     account it names the journal, so keep it when an update moves the items.
    public init(folder: URL, account: String = "default", storeName: String) {
        let folder = folder.standardizedFileURL
        self.init(storeName: storeName, account: account) {
            [JournalLocation(folder: folder, anchor: folder.deletingLastPathComponent())]
        }
    }

    /// Creates a journal in a default folder of an application. No folder is accessed before the first call.
    ///
    /// - Parameters:
    ///   - application: The name of the application's folder, as in ``FileTokenStore``.
    ///   - account: The name of the account in its store: any text. It is written nowhere.
    ///   - storeName: What keeps the tokens, as in ``init(folder:account:storeName:)``.
    ///   - tokens: The folder of the tokens, if they are in files. The journal is in the state, the
    ///     configuration or the data folder of the user, in one on another disk if there is one; and in
    ///     `TOKENS.journal` where none of them is on a disk. Where it is once, it stays.
    public init(application: String, account: String = "default", storeName: String, apartFrom tokens: URL? = nil) {
        self.init(storeName: storeName, account: account) {
            let standard = JournalLocation.standard(application)
            return tokens.map { JournalLocation.apart(from: $0, standard) } ?? [standard[0]]
        }
    }

    init(
        storeName: String, account: String, known: KnownFolders = KnownFolders(),
        writeLimit: Duration = TokenFile.writeLimit,
        locations: @escaping @Sendable () -> [JournalLocation]
    ) {
        self.storeName = storeName
        file = JournalFile(
            identity: "\(storeName)\0\(account)", locations: locations, known: known, writeLimit: writeLimit)
    }

    /// Reads what is written; an empty entry only when that is certain.
    ///
    /// - Throws: `TokenStoreError` with code `insecure`, `corrupt`, `unsupportedVersion` or `unavailable`.
    public func read() async throws -> SessionJournalEntry {
        try await queue.run { [file] () throws(TokenStoreError) in try file.read() }
    }

    /// Reads, changes on a thread of the journal and writes, as one step that no other process can interrupt.
    ///
    /// - Throws: `TokenStoreError` as ``read()``, and with code `busy` when another process has held the lock for
    ///   10 seconds. What is written is then unchanged.
    @discardableResult
    public func update(
        _ change: @escaping @Sendable (Result<SessionJournalEntry, TokenStoreError>) -> SessionJournalEntry?
    ) async throws -> SessionJournalEntry {
        try await queue.run { [file] () throws(TokenStoreError) in try file.update(change) }
    }

    /// Reports writes of this process and others, the first one too, as ``FileTokenStore/changes`` does. It also ends
    /// at once where the folder cannot be read.
    public var changes: AsyncStream<Void> { file.changes(on: queue) }
}

extension FileSessionJournal: RedactedDescription {
    /// The store; never the account.
    public var description: String { "FileSessionJournal(\(storeName))" }
}
