import Foundation

/// Splits a complete multipart/form-data body into its parts (RFC 7578 over RFC 2046 §5.1).
///
/// The caller limits the size of the body; the parser limits the number of parts and the size of their headers. Line
/// ends are CRLF and nothing else. A delimiter counts only at the start of a line, so the boundary's characters inside
/// a part's content are content.
///
/// vapor/multipart-kit is not used: its release 4 limits neither the number of parts nor the size of a header, accepts
/// a truncated body and stops the process on an empty boundary; release 5 is a beta.
struct MultipartParser: Sendable {
    /// Why a body is not acceptable multipart/form-data.
    enum Failure: Error, Hashable {
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

    private let delimiter: Data
    private let maximumParts: Int
    private let maximumHeaderBytes: Int

    /// Creates a parser for bodies with this boundary.
    ///
    /// - Throws: `invalidBoundary` unless it has 1 to 70 of the characters RFC 2046 §5.1.1 allows.
    init(boundary: String, maximumParts: Int, maximumHeaderBytes: Int) throws(Failure) {
        let allowed = Set("'()+_,-./:=? ").union("0123456789").union("abcdefghijklmnopqrstuvwxyz")
            .union("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        guard (1...70).contains(boundary.utf8.count), boundary.last != " ", boundary.allSatisfy(allowed.contains)
        else { throw .invalidBoundary }
        delimiter = Data("\r\n--\(boundary)".utf8)
        self.maximumParts = maximumParts
        self.maximumHeaderBytes = maximumHeaderBytes
    }

    /// The parts, in their order.
    ///
    /// - Throws: The first violation.
    func parse(_ body: Data) throws(Failure) -> [MultipartPart] {
        var parts: [MultipartPart] = []
        var position = try opening(in: body)
        while !isClosing(body, at: position) {
            guard parts.count < maximumParts else { throw .tooManyParts }
            let start = try lineEnd(in: body, at: position)
            guard let next = body.range(of: delimiter, in: start..<body.endIndex) else { throw .truncated }
            let (header, content) = try split(body[start..<next.lowerBound])
            parts.append(try MultipartPart(header: header, content: Data(content)))
            position = next.upperBound
        }
        return parts
    }

    /// The position behind the first delimiter. A preamble before it is ignored (RFC 2046 §5.1.1).
    private func opening(in body: Data) throws(Failure) -> Data.Index {
        let atStart = delimiter.dropFirst(2)
        if body.starts(with: atStart) { return body.startIndex + atStart.count }
        guard let first = body.range(of: delimiter) else { throw .missingOpening }
        return first.upperBound
    }

    private func isClosing(_ body: Data, at position: Data.Index) -> Bool {
        body[position...].starts(with: "--".utf8)
    }

    /// The position behind a delimiter's line end. Blanks may come before it (RFC 2046 §5.1.1).
    private func lineEnd(in body: Data, at position: Data.Index) throws(Failure) -> Data.Index {
        let afterBlanks = body[position...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard afterBlanks.count >= 2 else { throw .truncated }
        guard afterBlanks.starts(with: "\r\n".utf8) else { throw .malformedDelimiter }
        return afterBlanks.startIndex + 2
    }

    /// Header fields and content, separated by the first empty line. A part that starts with it has no fields.
    private func split(_ bytes: Data) throws(Failure) -> (header: Data, content: Data) {
        if bytes.starts(with: "\r\n".utf8) { return (Data(), bytes.dropFirst(2)) }
        let window = bytes.prefix(maximumHeaderBytes + 4)
        guard let end = window.range(of: Data("\r\n\r\n".utf8)) else {
            throw bytes.count > window.count ? .headerTooLarge : .malformedHeader
        }
        return (bytes[..<end.lowerBound], bytes[end.upperBound...])
    }
}
