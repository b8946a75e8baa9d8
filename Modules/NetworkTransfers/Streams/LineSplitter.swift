import Foundation
import NetworkCore

/// Splits text into lines at line feeds. Lines without a visible character are left out.
///
/// - Complexity: O(*n*) in the number of bytes. A line that is in one piece is not copied.
struct LineSplitter {
    private let limit: Int
    /// The bytes of the line that the pieces so far did not end.
    private var line = Data()
    private var isFirstLine = true

    /// Why there are no more lines after those that the last piece completed: a line is over the limit.
    private(set) var failure: NetworkError?

    init(limit: Int) {
        self.limit = limit
    }

    /// Reads a piece. Returns the lines that the piece completes before ``failure``.
    ///
    /// - Throws: ``failure`` if the piece completed no line.
    mutating func read(_ piece: Data) throws -> [Data] {
        var lines: [Data] = []
        do {
            try read(piece, into: &lines)
        } catch {
            failure = error
        }
        if let failure, lines.isEmpty { throw failure }
        return lines
    }

    private mutating func read(_ piece: Data, into lines: inout [Data]) throws(NetworkError) {
        if let failure { throw failure }
        var rest = piece
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            try append(rest[..<end])
            lines += self.end()
            rest = rest[(end + 1)...]
        }
        try append(rest)
    }

    /// Ends the line. Returns the line, if it has a visible character.
    mutating func end() -> [Data] {
        defer { line = Data() }
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        }
        return line.contains { $0 > 0x20 } ? [line] : []
    }

    private mutating func append(_ bytes: Data) throws(NetworkError) {
        guard line.count + bytes.count <= limit else {
            throw NetworkError(.responseTooLarge, reason: "a line has more than \(limit) bytes")
        }
        if line.isEmpty { line = bytes } else { line.append(bytes) }
    }
}
