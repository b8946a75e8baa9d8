import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The file of one account: the blocking calls of ``FileTokenStore``.
struct TokenFile: Sendable {
    /// The size limit of a file, for reading and writing: 1 MB. A bundle has a few kilobytes.
    static let sizeLimit = 1 << 20

    /// How long a write waits by default for the write of another process. That takes a few milliseconds, or somewhat
    /// more than 5 s if its `fsync` ends only when ext4 commits its journal.
    static let writeLimit: Duration = .seconds(10)

    let folder: TokenFolder
    let name: String

    /// How long a write waits for the write of another process.
    var writeLimit = TokenFile.writeLimit

    private let last = Locked<LastSession?>(nil)

    func read() throws(TokenStoreError) -> StoredSession {
        guard let folder = try open() else { return .empty }
        return try content(of: folder)
    }

    /// Reads, decides and writes under the write lock of the account.
    func update(_ change: StoreChange) throws(TokenStoreError) {
        guard let folder = try open() else { return try updateInNewFolder(change) }
        let lock = try folder.lock(lockName, waitingAtMost: writeLimit)
        defer { lock.release() }
        let found = Result { () throws(TokenStoreError) in try content(of: folder) }
        if case .failure(let error) = found, error.code != .corrupt { throw error }
        let new = change(found)
        // Without its file the lock excludes no process: another process may have written since.
        guard lock.isAtItsPath else { throw folder.replaced() }
        try store(new, over: try? found.get(), in: folder)
    }

    /// Removes what is stored, without reading it.
    func delete() throws(TokenStoreError) {
        guard let folder = try open(isModeChecked: false) else { return }
        let lock = try folder.lock(lockName, waitingAtMost: writeLimit)
        defer { lock.release() }
        try remove(from: folder)
    }

    /// Takes the lease if it is free and no other waiter is before the request.
    func tryLease(_ request: LeaseRequest) throws(TokenStoreError) -> FolderLock? {
        guard let folder = try open() else {
            throw TokenStoreError(
                .unavailable, reason: "\(folder.path) does not exist yet: nothing is stored that could be refreshed")
        }
        return try request.attempt(in: folder, name + ".lease")
    }

    func leaseHolder() -> LeaseHolder? { (try? open())?.leaseHolder(name + ".lease") }

    /// Opens the folder that was used before, or a copy of it: the owner of a call stores the new tokens where the
    /// other processes find them, also in a folder that was changed meanwhile (rule 3 decides whether it may).
    private func open(isModeChecked: Bool = true) throws(TokenStoreError) -> PrivateFolder? {
        try folder.open(isModeChecked: isModeChecked) { (folder) in
            guard let last = last.withLock({ $0 }), let contents = try? folder.read(name, atMost: Self.sizeLimit),
                let found = try? session(in: contents)
            else { return false }
            return last.continues(in: found)
        }
    }

    /// Decides and writes where the folder does not exist. It is created only to store something.
    private func updateInNewFolder(_ change: StoreChange) throws(TokenStoreError) {
        let creation = try PrivateFolder.lockFolder(folder.anchor, waitingAtMost: writeLimit)
        defer { creation.release() }
        if try open() != nil {
            creation.release()
            return try update(change)
        }
        let new = change(.success(.empty))
        guard let new, new != .empty else { return }
        try folder.create(locking: lockName) { (folder) throws(TokenStoreError) in try store(new, in: folder) }
    }

    private func store(
        _ new: StoredSession?, over old: StoredSession? = nil, in folder: borrowing PrivateFolder
    ) throws(TokenStoreError) {
        guard let new else { return }
        if new == .empty { return try remove(from: folder) }
        let data = try TokenEnvelope.encode(new)
        guard data.count <= Self.sizeLimit else {
            throw TokenStoreError(.unavailable, reason: "the session is larger than \(Self.sizeLimit) bytes")
        }
        self.folder.record(folder)
        do throws(TokenStoreError) {
            try folder.replace(name, with: data)
        } catch  where new.ends(old) && error.isForLackOfSpace {
            // Tokens that end are removed on a full disk, too. Their space may do for what comes after them.
            try folder.remove(name)
            try folder.replace(name, with: data)
        }
        guard try folder.isAtItsPath() else { throw folder.replaced() }
        self.folder.remember(folder)
        last.withLock { $0 = LastSession(new) }
    }

    private func remove(from folder: borrowing PrivateFolder) throws(TokenStoreError) {
        try folder.remove(name)
        last.withLock { $0 = nil }
    }

    private func content(of folder: borrowing PrivateFolder) throws(TokenStoreError) -> StoredSession {
        let contents = try folder.read(name, atMost: Self.sizeLimit)
        if contents != .nothing { self.folder.remember(folder) }
        let found = try session(in: contents)
        last.withLock { $0 = LastSession(found) }
        return found
    }

    private func session(in contents: PrivateFolder.Contents) throws(TokenStoreError) -> StoredSession {
        switch contents {
        case .nothing: return .empty
        case .tooLarge:
            let error = TokenStoreError(.corrupt, reason: "it is larger than \(Self.sizeLimit) bytes")
            throw .unreadable(error, in: path)
        case .bytes(let data): return try TokenEnvelope.decode(data, in: path)
        }
    }

    private var lockName: String { name + ".lock" }

    private var path: String { folder.path + "/" + name }
}

extension StoredSession {
    /// Whether the session that is stored is over once this is.
    fileprivate func ends(_ old: StoredSession?) -> Bool {
        guard let bundle else { return true }
        return old?.bundle.map { $0.session != bundle.session } ?? false
    }
}

/// The session that a file has held last, without its tokens.
private struct LastSession {
    let session: SessionID

    /// `nil`: the session had ended.
    let generation: Int?

    init?(_ content: StoredSession) {
        switch content {
        case .active(let bundle): (session, generation) = (bundle.session, bundle.generation)
        case .tombstone(let tombstone): (session, generation) = (tombstone.session, nil)
        case .empty: return nil
        }
    }

    /// Whether a file in another folder has the same session, as it was or as it went on: the folder was replaced by a
    /// copy. An older generation may be what lies below the mount point of a disk, and an ended session stays ended.
    func continues(in content: StoredSession) -> Bool {
        switch content {
        case .active(let bundle): bundle.session == session && generation.map { bundle.generation >= $0 } ?? false
        case .tombstone(let tombstone): tombstone.session == session
        case .empty: false
        }
    }
}

enum AccountName {
    /// The longest file name in bytes, so that names with a suffix fit 255 bytes.
    static let limit = 200

    /// The name of an account's file.
    ///
    /// Lowercase letters, digits, `-` and `_` are kept; every other byte of the UTF-8 becomes `%` and two lowercase
    /// hexadecimal digits. So no two accounts share a file, even if the file system treats `A` and `a`, or two
    /// encodings of `é`, as equal; and no name is a path, a hidden file or has a suffix of the store (`.lock`,
    /// `.lease`, `.queue`, `.tmp`). Where that is too long, it is `%-` and a digest, which no other account has.
    static func fileName(for account: String) -> String {
        let name = account.isEmpty ? "%.json" : account.utf8.map(encoded).joined() + ".json"
        guard name.utf8.count > limit else { return name }
        let digest = KeyedHash(key: Data()).digest(of: account)
        return "%-" + digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + ".json"
    }

    private static func encoded(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): String(UnicodeScalar(byte))
        case UInt8(ascii: "-"), UInt8(ascii: "_"): String(UnicodeScalar(byte))
        default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }
}
