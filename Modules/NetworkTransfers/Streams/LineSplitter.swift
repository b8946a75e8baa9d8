import Foundation
import NetworkCore

/// Splits text into lines at line feeds. Lines without a visible character are left out.
///
/// - Complexity: O(*n*) in the number of bytes.
struct LineSplitter {
    private let limit: Int
    /// The bytes of the last piece that were not read.
    private var unread: ArraySlice<UInt8> = []
    /// The line that the pieces so far did not end.
    private var line: [UInt8] = []
    private var isFirstLine = true

    init(limit: Int) {
        self.limit = limit
    }

    /// Takes the next piece, when ``next()`` has found all lines of the one before.
    mutating func take(_ piece: Data) { unread = Array(piece)[...] }

    /// The text has ended, and with it the last line.
    mutating func end() { unread = [UInt8(ascii: "\n")] }

    /// Finds the next line that the pieces so far complete. Returns the line. `nil`: it needs another piece.
    ///
    /// - Throws: `NetworkError` with code `responseTooLarge`, each time from then on: the line is over the limit.
    mutating func next() throws -> Data? {
        while !unread.isEmpty {
            let part = unread.prefix { $0 != UInt8(ascii: "\n") }
            guard line.count + part.count <= limit else {
                throw NetworkError(.responseTooLarge, reason: "a line has more than \(limit) bytes")
            }
            line += part
            unread = unread[part.endIndex...]
            guard unread.popFirst() != nil else { return nil }
            defer { line.removeAll(keepingCapacity: true) }
            if isFirstLine, line.starts(with: "\u{FEFF}".utf8) { line.removeFirst(3) }
            isFirstLine = false
            if line.contains(where: { $0 > 0x20 }) { return Data(line) }
        }
        return nil
    }
}
