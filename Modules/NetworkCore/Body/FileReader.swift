package import Foundation

/// Reads a file in pieces, and notices when it changes.
final class FileReader {
    private static let pieceSize = 64 * 1_024

    private let url: URL
    private let file: FileHandle
    private let start: FileState
    private var missing: Int64

    init(_ url: URL, size: Int64?) throws(HTTPBodyError) {
        self.url = url
        // Opening a pipe that took the place of the file must not wait for its writer.
        let descriptor = url.isFileURL ? open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1
        guard descriptor >= 0 else { throw HTTPBodyError.unreadable }
        file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, let state = FileState(status) else { throw HTTPBodyError.unreadable }
        start = state
        missing = size ?? state.size
    }

    deinit { try? file.close() }

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
}

/// What shows that a file was changed: its size, and when it was last written.
package struct FileState: Sendable, Equatable {
    package let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// Looks at a file. Symbolic links are followed, as they are when the file is opened.
    ///
    /// - Throws: ``HTTPBodyError`` with code `unreadable`, also for what is no regular file.
    package init(_ url: URL) throws(HTTPBodyError) {
        var status = stat()
        guard url.isFileURL, stat(url.path, &status) == 0, access(url.path, R_OK) == 0, let state = Self(status)
        else { throw HTTPBodyError.unreadable }
        self = state
    }

    /// `nil`: the status is not that of a regular file.
    fileprivate init?(_ status: stat) {
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        size = Int64(status.st_size)
        #if canImport(Darwin)
        let modifiedAt = status.st_mtimespec
        #else
        let modifiedAt = status.st_mtim
        #endif
        (seconds, nanoseconds) = (Int(modifiedAt.tv_sec), Int(modifiedAt.tv_nsec))
    }
}
