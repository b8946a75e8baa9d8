import Foundation
import NetworkCore

/// Splits a text that arrives in pieces of any size into lines. They end with LF, and where it is said with CR and CRLF
/// too. A byte order mark at the start is left out.
///
/// - Complexity: O(*n*) in the number of bytes.
struct LineSplitter {
    private let limit: Int
    /// What has the limit.
    private let unit: String
    private let endsAtCR: Bool
    /// The bytes of earlier lines that count for the limit.
    var bytesBefore = 0
    /// The bytes of the last piece that were not read.
    private var unread: ArraySlice<UInt8> = []
    /// The line that the pieces so far did not end.
    private var line: [UInt8] = []
    private var isFirstLine = true
    private var endedWithCR = false

    init(limit: Int, of unit: String = "a line", endsAtCR: Bool = false) {
        (self.limit, self.unit, self.endsAtCR) = (limit, unit, endsAtCR)
    }

    /// Takes the next piece, when ``next()`` has found all lines of the one before.
    mutating func take(_ piece: Data) { unread = Array(piece)[...] }

    /// The text has ended, and with it the last line.
    mutating func end() { unread = [Self.lf] }

    /// Finds the next line that the pieces so far complete. Returns the line. `nil`: it needs another piece.
    ///
    /// - Throws: `NetworkError` with code `responseTooLarge`, each time from then on: the line is over the limit.
    mutating func next() throws -> [UInt8]? {
        if endedWithCR, let first = unread.first {
            endedWithCR = false
            if first == Self.lf { unread.removeFirst() }
        }
        let part = unread.prefix { $0 != Self.lf && !(endsAtCR && $0 == Self.cr) }
        guard bytesBefore + line.count + part.count <= limit else {
            throw NetworkError(.responseTooLarge, reason: "\(unit) has more than \(limit) bytes")
        }
        line += part
        unread = unread[part.endIndex...]
        guard let end = unread.popFirst() else { return nil }
        endedWithCR = end == Self.cr
        defer { (line, isFirstLine) = ([], false) }
        return isFirstLine && line.starts(with: "\u{FEFF}".utf8) ? Array(line.dropFirst(3)) : line
    }

    private static let lf = UInt8(ascii: "\n")
    private static let cr = UInt8(ascii: "\r")
}
