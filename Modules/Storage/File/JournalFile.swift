import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The file of one journal: the blocking calls of ``FileSessionJournal``.
final class JournalFile: Sendable {
    /// The most bytes that are read or written: an entry has a few hundred.
    private static let sizeLimit = 1 << 16
    private static let keyName = "key"
    /// One lock for all journals of a folder: each write takes milliseconds, and none is frequent.
    private static let lockName = "journals.lock"

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

    func read() throws(TokenStoreError) -> SessionJournalEntry {
        let place = place
        guard let folder = try place.open(), let name = try name(in: folder) else { return SessionJournalEntry() }
        return try entry(name, in: folder, of: place)
    }

    /// Reads, changes and writes under the lock of the folder.
    func update(_ change: (SessionJournalEntry) -> SessionJournalEntry) throws(TokenStoreError) -> SessionJournalEntry {
        let place = place
        guard let folder = try place.open() else { return try updateInNewFolder(change) }
        let lock = try folder.lock(Self.lockName, waitingAtMost: writeLimit)
        defer { lock.release() }
        var old = SessionJournalEntry()
        if let name = try name(in: folder) { old = try entry(name, in: folder, of: place) }
        let new = change(old)
        // Without its file the lock excludes no process: another one may have written since.
        guard lock.isAtItsPath else { throw folder.replaced() }
        if new != old { try write(new, in: folder, of: place) }
        return new
    }

    /// The folder that has the journal, or is to get it. Until there is one it is looked for each time: which disks are
    /// there changes.
    private var place: TokenFolder {
        if let place = chosen.withLock({ $0 }) { return place }
        let locations = locations()
        let found = locations.first { mayHaveJournal($0.folder) }
        let location = found ?? locations[0]
        let place = TokenFolder(
            path: location.folder.path, anchor: location.anchor.path, access: .owner, known: known)
        return found == nil ? place : keep(place)
    }

    private func keep(_ place: TokenFolder) -> TokenFolder {
        chosen.withLock { chosen in
            let kept = chosen ?? place
            chosen = kept
            return kept
        }
    }

    /// Whether a folder has the journal, or one that cannot be told apart without the key.
    private func mayHaveJournal(_ folder: URL) -> Bool {
        guard let opened = try? PrivateFolder.open(folder.path, isModeChecked: false),
            case .bytes(let key)? = try? opened.read(Self.keyName, atMost: KeyedHash.keySize),
            key.count == KeyedHash.keySize
        else { return hasFiles(folder.path) }
        return FileManager.default.fileExists(atPath: folder.appendingPathComponent(fileName(key)).path)
    }

    private func updateInNewFolder(
        _ change: (SessionJournalEntry) -> SessionJournalEntry
    ) throws(TokenStoreError) -> SessionJournalEntry {
        let place = place
        let creation = try place.lockCreation(waitingAtMost: writeLimit)
        defer { creation.release() }
        if try place.open() != nil {
            creation.release()
            return try update(change)
        }
        let new = change(SessionJournalEntry())
        guard !new.isEmpty else { return new }
        try place.create(locking: Self.lockName) { (folder) throws(TokenStoreError) in
            try write(new, in: folder, of: place)
        }
        return new
    }

    /// The caller holds the lock.
    private func write(
        _ entry: SessionJournalEntry, in folder: borrowing PrivateFolder, of place: TokenFolder
    ) throws(TokenStoreError) {
        let found = try name(in: folder)
        guard !entry.isEmpty else {
            if let found { try folder.remove(found) }
            return
        }
        let name: String
        if let found { name = found } else { name = try makeKey(in: folder) }
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
    ) throws(TokenStoreError) -> SessionJournalEntry {
        let path = folder.path(of: name)
        switch try folder.read(name, atMost: Self.sizeLimit) {
        case .nothing: return SessionJournalEntry()
        case .tooLarge: throw .damaged(path)
        case .bytes(let data):
            place.remember(folder)
            return try JournalEnvelope.decode(data, path)
        }
    }

    // MARK: Names

    /// The name of the file. `nil`: the folder has no key, and so no journal.
    private func name(in folder: borrowing PrivateFolder) throws(TokenStoreError) -> String? {
        switch try folder.read(Self.keyName, atMost: KeyedHash.keySize) {
        case .bytes(let key) where key.count == KeyedHash.keySize: return fileName(key)
        case .nothing where !hasFiles(folder.path): return nil
        case .nothing, .bytes, .tooLarge:
            // Without its key a journal cannot be found; that there is none is not certain.
            throw .damaged(folder.path(of: Self.keyName), remedy: "rm -r \(folder.path.quotedForShell)")
        }
    }

    private func makeKey(in folder: borrowing PrivateFolder) throws(TokenStoreError) -> String {
        let key = KeyedHash.randomKey()
        try folder.replace(Self.keyName, with: key)
        return fileName(key)
    }

    private func fileName(_ key: Data) -> String {
        let digest = KeyedHash(key: key).digest(of: identity).prefix(16)
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + JournalLocation.fileSuffix
    }

    private func hasFiles(_ folder: String) -> Bool {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.contains { $0.hasSuffix(JournalLocation.fileSuffix) }
    }
}

/// A folder that may have a journal.
struct JournalLocation: Sendable {
    static let fileSuffix = ".json"

    let folder: URL

    /// A folder that must exist. If it does not, its disk is not mounted.
    let anchor: URL

    /// The default folders of an application, the preferred one first.
    static func standard(
        _ application: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> [JournalLocation] {
        let state = TokenFolderLocation.state(environment: environment)
        let name = TokenFolderLocation.folderName(for: application)
        func journal(_ folder: URL, _ anchor: URL) -> JournalLocation {
            JournalLocation(
                folder: folder.appendingPathComponent(name).appendingPathComponent("journal"), anchor: anchor)
        }
        var locations = [journal(state.folder, state.anchor)]
        #if !canImport(Darwin)
        let variable = environment["HOME"] ?? ""
        let home = URL(fileURLWithPath: variable.hasPrefix("/") ? variable : NSHomeDirectory(), isDirectory: true)
        for (variable, standard) in [("XDG_CONFIG_HOME", ".config"), ("XDG_DATA_HOME", ".local/share")] {
            let path = environment[variable] ?? ""
            let folder = path.hasPrefix("/") ? URL(fileURLWithPath: path, isDirectory: true) : nil
            locations.append(journal(folder ?? home.appendingPathComponent(standard), folder ?? home))
        }
        #endif
        return locations
    }

    /// The folders for the journal of tokens in files: default ones on another disk, then on theirs, then the folder
    /// beside them. Where their disk is absent, their path is on that of its mount point: the folder stays the same.
    /// Tokens in memory do not outlive a restart of the system, and neither does what is remembered of them.
    static func apart(from tokens: URL, _ standard: [JournalLocation]) -> [JournalLocation] {
        let tokens = tokens.standardizedFileURL
        let parent = tokens.deletingLastPathComponent()
        let isInStateFolder = parent == standard[0].folder.deletingLastPathComponent().standardizedFileURL
        let own =
            isInStateFolder
            ? standard[0] : JournalLocation(folder: tokens.appendingPathExtension("journal"), anchor: parent)
        let device = FileSystemKind.nearestDevice(to: tokens.path)
        let isThere = FileManager.default.fileExists(atPath: tokens.path)
        if isThere, device.map({ !isDurable($0) }) ?? true { return [own] }
        let durable = standard.compactMap { location in
            FileSystemKind.nearestDevice(to: location.folder.path).flatMap { device in
                isDurable(device) ? (location: location, device: device) : nil
            }
        }
        let sorted = durable.filter { $0.device != device } + durable.filter { $0.device == device }
        return sorted.map(\.location) + (isInStateFolder && !sorted.isEmpty ? [] : [own])
    }

    private static func isDurable(_ device: UInt64) -> Bool {
        [.disk, .network].contains(FileSystemKind(device: device))
    }
}

/// The encoding of a journal: a line with the checksum of the rest, and JSON with its format and version.
private struct JournalEnvelope: Codable {
    static let (currentFormat, currentVersion) = ("latchkey-journal", 1)

    let format: String
    let version: Int
    let entry: SessionJournalEntry

    private struct Header: Decodable {
        let format: String
        let version: Int
    }

    static func encode(_ entry: SessionJournalEntry) throws(TokenStoreError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let envelope = JournalEnvelope(format: currentFormat, version: currentVersion, entry: entry)
        guard let body = try? encoder.encode(envelope) else {
            throw TokenStoreError(.unavailable, reason: "the journal cannot be written as JSON")
        }
        return Data((CRC64.text(of: body) + "\n").utf8) + body
    }

    static func decode(_ data: Data, _ path: String) throws(TokenStoreError) -> SessionJournalEntry {
        let body = data.dropFirst(CRC64.textLength + 1)
        guard data.prefix(CRC64.textLength + 1) == Data((CRC64.text(of: body) + "\n").utf8),
            let header = try? JSONDecoder().decode(Header.self, from: Data(body)), header.format == currentFormat
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
