package import Foundation

/// Splits a multipart/form-data body into its parts while it arrives (RFC 7578 over RFC 2046 §5.1).
///
/// The caller limits the size of the body; the parser limits the number of parts and the size of their headers, and
/// holds no more than one header or one delimiter of what it has read. Line ends are CRLF and nothing else. A delimiter
/// counts only at the start of a line, so the boundary's characters inside a part's content are content.
///
/// vapor/multipart-kit is not used: its release 4 limits neither the number of parts nor the size of a header, accepts
/// a truncated body and stops the process on an empty boundary; release 5 is a beta.
package struct MultipartParser: Sendable {
    /// Why a body is not acceptable multipart/form-data.
    package enum Failure: Error, Hashable {
        /// The Content-Type names no boundary, or one that RFC 2046 §5.1.1 does not allow.
        case invalidBoundary
        /// The opening delimiter is missing.
        case missingOpening
        /// The body ends inside a part, or without its closing delimiter.
        case truncated
        /// A delimiter is followed by something that is neither a line end nor `--`.
        case malformedDelimiter
        /// A part's header fields cannot be read.
        case malformedHeader
        /// A part's header fields exceed the limit.
        case headerTooLarge
        /// A part has no `form-data` disposition with a name.
        case missingName
        /// There are more parts than the limit.
        case tooManyParts
    }

    /// What a piece of a body contains.
    package enum Event: Sendable, Hashable {
        /// A part starts.
        case part(MultipartHeader)
        /// More of the content of the latest part.
        case content(Data)
    }

    private enum Position {
        /// Before the first delimiter. A preamble is ignored (RFC 2046 §5.1.1).
        case preamble
        /// Behind the boundary of a delimiter. Blanks may come before its line end (RFC 2046 §5.1.1).
        case delimiter(hasBlanks: Bool)
        case header
        /// In a part's content. The input starts with the line end of the empty line if `isStart`: a delimiter may
        /// begin with it.
        case content(isStart: Bool)
        /// Behind the last delimiter. An epilogue is ignored.
        case epilogue
    }

    private static let lineEnd = Data("\r\n".utf8)

    private let delimiter: Data
    private let maximumParts: Int
    private let maximumHeaderBytes: Int
    private var position = Position.preamble
    private var parts = 0
    /// The input that is not read yet. The first delimiter has no line end before it, so one is added.
    private var input = lineEnd

    /// Creates a parser for a body with this boundary.
    ///
    /// - Throws: `invalidBoundary` unless it has 1 to 70 of the characters RFC 2046 §5.1.1 allows.
    package init(boundary: String, maximumParts: Int, maximumHeaderBytes: Int) throws(Failure) {
        let allowed = Set("'()+_,-./:=? ").union("0123456789").union("abcdefghijklmnopqrstuvwxyz")
            .union("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        guard (1...70).contains(boundary.utf8.count), boundary.last != " ", boundary.allSatisfy(allowed.contains)
        else { throw .invalidBoundary }
        delimiter = Data("\r\n--\(boundary)".utf8)
        self.maximumParts = maximumParts
        self.maximumHeaderBytes = maximumHeaderBytes
    }

    /// Reads the next piece of the body.
    ///
    /// - Returns: What the piece contains, in order. Content comes in pieces of any size.
    /// - Throws: The first violation.
    package mutating func read(_ bytes: some Collection<UInt8>) throws(Failure) -> [Event] {
        input.append(contentsOf: bytes)
        var events: [Event] = []
        while try step(&events) {}
        // Without the copy, the storage of all input would stay.
        input = Data(input)
        return events
    }

    /// Checks that the body was complete.
    ///
    /// - Throws: `missingOpening` or `truncated`.
    package func finish() throws(Failure) {
        switch position {
        case .preamble: throw .missingOpening
        case .delimiter, .header, .content: throw .truncated
        case .epilogue: return
        }
    }

    /// The parts of a complete body, in their order.
    ///
    /// - Throws: The first violation.
    package static func parts(
        of body: some Collection<UInt8>, boundary: String, maximumParts: Int, maximumHeaderBytes: Int
    ) throws(Failure) -> [MultipartPart] {
        var parser = try MultipartParser(
            boundary: boundary, maximumParts: maximumParts, maximumHeaderBytes: maximumHeaderBytes)
        var parts: [MultipartPart] = []
        for event in try parser.read(body) {
            switch event {
            case .part(let header): parts.append(MultipartPart(header: header, content: Data()))
            case .content(let data): parts[parts.count - 1].content += data
            }
        }
        try parser.finish()
        return parts
    }

    /// Reads one element of the input.
    ///
    /// - Returns: Whether there may be another one.
    private mutating func step(_ events: inout [Event]) throws(Failure) -> Bool {
        switch position {
        case .preamble:
            guard let found = input.range(of: delimiter) else {
                input = input.suffix(delimiter.count - 1)
                return false
            }
            input = input[found.upperBound...]
            position = .delimiter(hasBlanks: false)
            return true
        case .delimiter(let hasBlanks): return try readDelimiter(hasBlanks)
        case .header: return try readHeader(&events)
        case .content(let isStart): return try readContent(isStart, &events)
        case .epilogue:
            input = Data()
            return false
        }
    }

    private mutating func readDelimiter(_ hadBlanks: Bool) throws(Failure) -> Bool {
        let rest = input.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let hasBlanks = hadBlanks || rest.count < input.count
        input = rest
        position = .delimiter(hasBlanks: hasBlanks)
        guard input.count >= 2 else { return false }
        if !hasBlanks, input.starts(with: "--".utf8) {
            position = .epilogue
            return true
        }
        guard parts < maximumParts else { throw .tooManyParts }
        guard input.starts(with: Self.lineEnd) else { throw .malformedDelimiter }
        parts += 1
        input = input.dropFirst(2)
        position = .header
        return true
    }

    /// Reads the header fields, which the first empty line ends.
    private mutating func readHeader(_ events: inout [Event]) throws(Failure) -> Bool {
        // A part that starts with the empty line has no fields.
        guard !input.starts(with: Self.lineEnd) else { throw .missingName }
        let window = input.prefix(maximumHeaderBytes + 4)
        let next = window.range(of: delimiter)?.lowerBound ?? window.endIndex
        guard let end = window.range(of: Self.lineEnd + Self.lineEnd), end.lowerBound < next else {
            guard next == window.endIndex else { throw .malformedHeader }
            guard window.count < maximumHeaderBytes + 4 else { throw .headerTooLarge }
            return false
        }
        events.append(.part(try MultipartHeader(input[..<end.lowerBound])))
        input = input[(end.lowerBound + 2)...]
        position = .content(isStart: true)
        return true
    }

    private mutating func readContent(_ isStart: Bool, _ events: inout [Event]) throws(Failure) -> Bool {
        let found = input.range(of: delimiter)
        // The end of the input may be the start of a delimiter.
        let end = found?.lowerBound ?? input.endIndex - min(input.count, delimiter.count - 1)
        let start = input.startIndex + (isStart ? 2 : 0)
        if found != nil, end < start { throw .malformedHeader }
        if end > start { events.append(.content(Data(input[start..<end]))) }
        guard let found else {
            if end >= start {
                input = input[end...]
                position = .content(isStart: false)
            }
            return false
        }
        input = input[found.upperBound...]
        position = .delimiter(hasBlanks: false)
        return true
    }
}
