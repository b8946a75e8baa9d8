import AuthInterface
import Foundation
import NetworkCore

/// The files of a cache: the key of its digests, a lock, and one for each response, with a random name. Their mode is
/// 0600.
///
/// A response is a line with a checksum and JSON, then the body.
struct CacheFolder: Sendable {
    private static let fileExtension = "response"

    /// The longest first line that is read.
    private static let longestRecord = 1_024 * 1_024

    private let folder: URL
    private let lock: CacheFolderLock

    /// Hides what files must not show, with the folder's own key.
    let hash: KeyedHash

    init(_ folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
        lock = try CacheFolderLock(in: folder)
        hash = KeyedHash(key: try Self.key(in: folder))
    }

    /// The key of the folder. A folder without one gets one, and its responses cannot be found any more.
    private static func key(in folder: URL) throws -> Data {
        let url = folder.appendingPathComponent("key")
        if let key = try? Data(contentsOf: url), key.count == KeyedHash.keySize {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
            return key
        }
        let key = KeyedHash.randomKey()
        try Self.write([key], to: url)
        let responses = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        for response in responses where response.pathExtension == fileExtension {
            try? FileManager.default.removeItem(at: response)
        }
        return key
    }

    /// Reads the records of all files, and deletes files that have none.
    func records() -> [(URL, CachedResponse.Record)] {
        let found = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        return found.compactMap { url in
            let isOwn = [Self.fileExtension, "partial"].contains(url.pathExtension)
            if url.pathExtension == Self.fileExtension, let (record, _) = read(url) { return (url, record) }
            if isOwn { delete([url]) }
            return nil
        }
    }

    /// Reads the body of a response. `nil`: the file is gone or damaged.
    func body(of record: CachedResponse.Record, in url: URL) -> Data? {
        guard let (found, start) = read(url), found.key == record.key, found.selecting == record.selecting,
            let content = try? Data(contentsOf: url), content.count - start == found.length
        else { return nil }
        let body = Data(content.dropFirst(start))
        return body.checksum == record.checksum ? body : nil
    }

    /// Writes a response. Returns its file. `nil`: it could not be written, and is not kept.
    func write(_ response: CachedResponse) -> URL? {
        let url = folder.appendingPathComponent(UUID().uuidString).appendingPathExtension(Self.fileExtension)
        guard let record = try? JSONEncoder().encode(response.record) else { return nil }
        let line = Data("\(record.checksum) ".utf8) + record + Data("\n".utf8)
        return (try? Self.write([line, response.body], to: url)).map { url }
    }

    /// Writes a file beside its place, waits for the disk, and puts it there whole.
    private static func write(_ pieces: [Data], to url: URL) throws {
        let part = url.deletingLastPathComponent().appendingPathComponent(".\(UUID().uuidString).partial")
        do {
            try Data().write(to: part, options: .withoutOverwriting)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: part.path)
            let file = try FileHandle(forWritingTo: part)
            for piece in pieces { try file.write(contentsOf: piece) }
            try file.synchronize()
            try file.close()
            try? FileManager.default.removeItem(at: url)
            try FileManager.default.moveItem(at: part, to: url)
        } catch {
            try? FileManager.default.removeItem(at: part)
            throw error
        }
    }

    func delete(_ files: [URL]) { for file in files { try? FileManager.default.removeItem(at: file) } }

    /// Reads the record of a file, and where its body starts. `nil`: the file is damaged, also by its size.
    private func read(_ url: URL) -> (CachedResponse.Record, Int)? {
        guard let file = try? FileHandle(forReadingFrom: url) else { return nil }
        defer { try? file.close() }
        var start = Data()
        while start.count < Self.longestRecord, let piece = try? file.read(upToCount: 16 * 1_024), !piece.isEmpty {
            start += piece
            guard let end = start.firstIndex(of: UInt8(ascii: "\n")) else { continue }
            let parts = start[..<end].split(separator: UInt8(ascii: " "), maxSplits: 1)
            guard parts.count == 2, String(decoding: parts[0], as: UTF8.self) == "\(parts[1].checksum)"
            else { return nil }
            guard let record = try? JSONDecoder().decode(CachedResponse.Record.self, from: parts[1]),
                let length = UInt64(exactly: record.length), let size = try? file.seekToEnd(),
                size == UInt64(end + 1) + length
            else { return nil }
            return (record, end + 1)
        }
        return nil
    }
}
