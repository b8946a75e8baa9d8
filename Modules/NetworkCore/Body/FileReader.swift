import Foundation

/// Reads a file in pieces, and notices when it changes.
final class FileReader {
    private static let pieceSize = 64 * 1_024

    private let url: URL
    private let file: FileHandle
    private let start: FileState
    private var missing: Int64

    init(_ url: URL, size: Int64?) throws(HTTPBodyError) {
        self.url = url
        start = try FileState(url)
        missing = size ?? start.size
        do {
            file = try FileHandle(forReadingFrom: url)
        } catch {
            throw HTTPBodyError.unreadable
        }
    }

    deinit {
        try? file.close()
    }

    /// Reads the next piece; `nil` at the end.
    ///
    /// A file that has grown is read to the length that it was announced with, and then refused.
    func next() throws(HTTPBodyError) -> Data? {
        let piece: Data
        do {
            piece = try file.read(upToCount: Self.pieceSize) ?? Data()
        } catch {
            throw HTTPBodyError.unreadable
        }
        guard piece.count <= missing, !piece.isEmpty || missing == 0 else { throw HTTPBodyError.changedFile }
        missing -= Int64(piece.count)
        guard !piece.isEmpty || (try? FileState(url)) == start else { throw HTTPBodyError.changedFile }
        return piece.isEmpty ? nil : piece
    }

    /// The size of a file in bytes.
    ///
    /// - Throws: ``HTTPBodyError`` with code `unreadable`, before anything is sent.
    static func size(of url: URL) throws(HTTPBodyError) -> Int64 { try FileState(url).size }
}

/// What shows that a file was changed: its size, and when it was last written.
struct FileState: Sendable, Equatable {
    let size: Int64
    private let modifiedAt: Date?

    /// Looks at a file.
    ///
    /// - Throws: ``HTTPBodyError`` with code `unreadable`.
    init(_ url: URL) throws(HTTPBodyError) {
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
        guard url.isFileURL, exists, !isFolder.boolValue, FileManager.default.isReadableFile(atPath: url.path),
            let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
        else { throw HTTPBodyError.unreadable }
        size = (attributes[.size] as? NSNumber)?.int64Value ?? 0
        modifiedAt = attributes[.modificationDate] as? Date
    }
}
