import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The file of one journal: the blocking calls of ``FileSessionJournal``.
final class JournalFile: Sendable {
    typealias Entry = SessionJournalEntry
    typealias Change = (Result<Entry, TokenStoreError>) -> Entry?

    /// The most bytes that are read or written: an entry has a few hundred.
    private static let sizeLimit = 1 << 16
    /// The lock for the key of a folder. An earlier version held it for every write.
    private static let keyLockName = "journals.lock"

    /// The store and the account, which the name of the file is a digest of.
    private let identity: String
    private let locations: @Sendable () -> [JournalLocation]
    private let known: KnownFolders
    private let writeLimit: Duration
    private let chosen = Locked<TokenFolder?>(nil)

    init(
        identity: String, locations: @escaping @Sendable () -> [JournalLocation], known: KnownFolders,
        writeLimit: Duration
    ) {
        (self.identity, self.locations, self.known, self.writeLimit) = (identity, locations, known, writeLimit)
    }

    func read() throws(TokenStoreError) -> Entry {
        let place = try place()
        guard let folder = try place.open(), let key = try key(of: folder) else { return Entry() }
        return try entry(key.fileName(of: identity), in: folder, of: place)
    }

    /// Reads, changes and writes under the lock of the journal. A damaged key is thrown, and not replaced: the journals
    /// of other accounts depend on it.
    func update(_ change: Change) throws(TokenStoreError) -> Entry {
        let place = try place()
        guard let folder = try place.open() else { return try updateInNewFolder(place, change) }
        guard let key = try key(of: folder), key.hasChecksum else {
            return try updateWithNewKey(folder, of: place, change)
        }
        let name = key.fileName(of: identity)
        let lock = try folder.lock(name + ".lock", waitingAtMost: writeLimit)
        defer { lock.release() }
        let old = Result { () throws(TokenStoreError) in try entry(name, in: folder, of: place) }
        if case .failure(let error) = old, error.code != .corrupt { throw error }
        guard let new = change(old) else { return try old.get() }
        // Without its file the lock excludes no process: another one may have written since.
        guard lock.isAtItsPath else { throw folder.replaced() }
        if new != (try? old.get()) { try write(new, name, in: folder, of: place) }
        return new
    }

    /// Reports writes of the journal. Until the folder has a key, that one is watched: it is written before any
    /// journal.
    func changes(on queue: BlockingQueue) -> AsyncStream<Void> {
        let watched = Locked<(name: String, reports: AsyncStream<Void>)?>(nil)
        return AsyncStream {
            guard let (name, place) = try? await queue.run({ try self.watchedFile() }) else { return nil }
            let reports = watched.withLock { watched in
                // The first report of a stream stands for what was written before.
                if watched?.name != name { watched = (name, FileChanges.stream(of: name, in: place)) }
                return watched?.reports
            }
            return await reports?.first { _ in true }
        }
    }

    private func watchedFile() throws(TokenStoreError) -> (name: String, place: TokenFolder) {
        let place = try place()
        guard let folder = try place.open(), let key = try key(of: folder) else { return (JournalKey.name, place) }
        return (key.fileName(of: identity), place)
    }

    /// The folder that has the journal; the first one, if it is certain that none has it. Until there is one it is
    /// looked for each time: which disks are there changes.
    private func place() throws(TokenStoreError) -> TokenFolder {
        if let place = chosen.withLock({ $0 }) { return place }
        let places = locations().map { location in
            TokenFolder(path: location.folder.path, anchor: location.anchor.path, access: .owner, known: known)
        }
        var failure: TokenStoreError?
        for place in places {
            do throws(TokenStoreError) {
                guard let folder = try place.open(isModeChecked: false), let key = try key(of: folder) else { continue }
                let journal = try folder.read(key.fileName(of: identity), atMost: Self.sizeLimit)
                if journal != .nothing { return keep(place) }
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return places[0]
    }

    private func keep(_ place: TokenFolder) -> TokenFolder {
        chosen.withLock { chosen in
            chosen = chosen ?? place
            return chosen ?? place
        }
    }

    private func updateInNewFolder(_ place: TokenFolder, _ change: Change) throws(TokenStoreError) -> Entry {
        let creation = try PrivateFolder.lockFolder(place.anchor, waitingAtMost: writeLimit)
        defer { creation.release() }
        if try place.open() != nil {
            creation.release()
            return try update(change)
        }
        guard let new = change(.success(Entry())), !new.isEmpty else { return Entry() }
        try place.create(locking: Self.keyLockName) { (folder) throws(TokenStoreError) in
            try writeFirst(new, in: folder, of: place)
        }
        return new
    }

    /// Makes the key, or adds the checksum to that of an earlier version, which then cannot write without the new
    /// locks.
    private func updateWithNewKey(
        _ folder: borrowing PrivateFolder, of place: TokenFolder, _ change: Change
    ) throws(TokenStoreError) -> Entry {
        let lock = try folder.lock(Self.keyLockName, waitingAtMost: writeLimit)
        defer { lock.release() }
        if let key = try key(of: folder) {
            if !key.hasChecksum { try folder.replace(JournalKey.name, with: key.content) }
            lock.release()
            return try update(change)
        }
        guard let new = change(.success(Entry())), !new.isEmpty else { return Entry() }
        guard lock.isAtItsPath else { throw folder.replaced() }
        try writeFirst(new, in: folder, of: place)
        return new
    }

    /// Writes a key and an entry. The caller holds the lock for the key, and there is none: until it is written, no
    /// other process knows the name of the journal.
    private func writeFirst(
        _ entry: Entry, in folder: borrowing PrivateFolder, of place: TokenFolder
    ) throws(TokenStoreError) {
        let key = JournalKey()
        let name = key.fileName(of: identity)
        let lock = try folder.lock(name + ".lock", waitingAtMost: writeLimit)
        defer { lock.release() }
        try folder.replace(JournalKey.name, with: key.content)
        try write(entry, name, in: folder, of: place)
    }

    /// The caller holds the lock of the journal.
    private func write(
        _ entry: Entry, _ name: String, in folder: borrowing PrivateFolder, of place: TokenFolder
    ) throws(TokenStoreError) {
        guard !entry.isEmpty else { return try folder.remove(name) }
        let data = try JournalEnvelope.encode(entry)
        guard data.count <= Self.sizeLimit else {
            throw TokenStoreError(.unavailable, reason: "the journal is larger than \(Self.sizeLimit) bytes")
        }
        place.record(folder)
        try folder.replace(name, with: data)
        guard try folder.isAtItsPath() else { throw folder.replaced() }
        place.remember(folder)
        _ = keep(place)
    }

    private func entry(
        _ name: String, in folder: borrowing PrivateFolder, of place: TokenFolder
    ) throws(TokenStoreError) -> Entry {
        let path = folder.path(of: name)
        switch try folder.read(name, atMost: Self.sizeLimit) {
        case .nothing: return Entry()
        case .tooLarge: throw .damaged(path)
        case .bytes(let data):
            place.remember(folder)
            return try JournalEnvelope.decode(data, path)
        }
    }

    // MARK: The key

    /// The key of the folder. `nil`: it is certain that there is none, and no journal. Whether a bit has changed in
    /// that of an earlier version, which has no checksum, nothing shows.
    private func key(of folder: borrowing PrivateFolder) throws(TokenStoreError) -> JournalKey? {
        var found = try folder.read(JournalKey.name, atMost: JournalKey.sizeLimit)
        if found == .nothing {
            guard try folder.hasFile(endingIn: JournalLocation.fileSuffix) else { return nil }
            // The first journal may have come in between, after its key.
            found = try folder.read(JournalKey.name, atMost: JournalKey.sizeLimit)
        }
        if case .bytes(let content) = found, let key = JournalKey(content) { return key }
        throw .damaged(folder.path(of: JournalKey.name), remedy: "rm -r \(folder.path.quotedForShell)")
    }
}

/// The encoding of a journal: a line with the checksum of the rest, and JSON with its format and version.
private struct JournalEnvelope: Codable {
    static let (currentFormat, currentVersion) = ("latchkey-journal", 2)

    let format: String
    let version: Int
    let entry: SessionJournalEntry

    static func encode(_ entry: SessionJournalEntry) throws(TokenStoreError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // An older program reads an entry without an end, and would take one up to an ordinal for none.
        let version = entry.pending == nil && entry.former.isEmpty ? 1 : currentVersion
        let envelope = JournalEnvelope(format: currentFormat, version: version, entry: entry)
        guard let body = try? encoder.encode(envelope) else {
            throw TokenStoreError(.unavailable, reason: "the journal cannot be written as JSON")
        }
        return Data((CRC64.text(of: body) + "\n").utf8) + body
    }

    static func decode(_ data: Data, _ path: String) throws(TokenStoreError) -> SessionJournalEntry {
        let body = data.dropFirst(CRC64.textLength + 1)
        guard data.prefix(CRC64.textLength + 1) == Data((CRC64.text(of: body) + "\n").utf8),
            let header = try? JSONDecoder().decode(StoredHeader.self, from: Data(body)), header.format == currentFormat
        else { throw .damaged(path) }
        guard header.version <= currentVersion else {
            throw TokenStoreError(
                .unsupportedVersion, reason: "\(path) was written by a later version: update this program")
        }
        guard let envelope = try? JSONDecoder().decode(JournalEnvelope.self, from: Data(body)) else {
            throw .damaged(path)
        }
        return envelope.entry
    }
}

extension TokenStoreError {
    fileprivate static func damaged(_ path: String, remedy: String? = nil) -> TokenStoreError {
        TokenStoreError(
            .corrupt,
            reason: "\(path) is not a journal; to start a new one, run: \(remedy ?? "rm \(path.quotedForShell)")")
    }
}
