package import Foundation

/// Splits a multipart/form-data body into its parts (RFC 7578 over RFC 2046 §5.1).
///
/// The caller limits the size of the body; the parser limits the number of parts and the size of their headers. Line
/// ends are CRLF and nothing else. A delimiter counts only at the start of a line, so the boundary's characters inside
/// a part's content are content. What comes before the first delimiter or after the last one is ignored.
///
/// vapor/multipart-kit is not used: its release 4 limits neither the number of parts nor the size of a header, accepts
/// a truncated body and stops the process on an empty boundary; release 5 is a beta.
package enum MultipartParser {
    /// Why a body is not acceptable multipart/form-data.
    package enum Failure: Error, Hashable {
        /// The Content-Type names no boundary, or one that RFC 2046 §5.1.1 does not allow.
        case invalidBoundary
        case missingOpening
        /// The body ends inside a part, or without its closing delimiter.
        case truncated
        /// A delimiter is followed by something that is neither a line end nor `--`.
        case malformedDelimiter
        case malformedHeader
        case headerTooLarge
        /// A part has no `form-data` disposition with a name.
        case missingName
        case tooManyParts
    }

    private static let lineEnd = Data("\r\n".utf8)

    /// The parts of a complete body, in their order.
    ///
    /// - Throws: The first violation.
    package static func parts(
        of body: Data, boundary: String, maximumParts: Int, maximumHeaderBytes: Int
    ) throws(Failure) -> [MultipartPart] {
        let delimiter = try delimiter(boundary)
        // The first delimiter has no line end before it, so one is added.
        var rest = lineEnd + body
        guard let opening = rest.range(of: delimiter) else { throw .missingOpening }
        rest = rest[opening.upperBound...]
        var parts: [MultipartPart] = []
        while try !isClosed(&rest) {
            guard parts.count < maximumParts else { throw .tooManyParts }
            guard rest.starts(with: lineEnd) else { throw .malformedDelimiter }
            rest = rest.dropFirst(2)
            let header = try header(&rest, upTo: maximumHeaderBytes, delimiter)
            guard let end = rest.range(of: delimiter) else { throw .truncated }
            let start = rest.startIndex + 2
            guard end.lowerBound >= start else { throw .malformedHeader }
            parts.append(MultipartPart(header: header, content: Data(rest[start..<end.lowerBound])))
            rest = rest[end.upperBound...]
        }
        return parts
    }

    /// - Throws: `invalidBoundary` unless it has 1 to 70 of the characters RFC 2046 §5.1.1 allows.
    private static func delimiter(_ boundary: String) throws(Failure) -> Data {
        let allowed = Set("'()+_,-./:=? ").union("0123456789").union("abcdefghijklmnopqrstuvwxyz")
            .union("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        guard (1...70).contains(boundary.utf8.count), boundary.last != " ", boundary.allSatisfy(allowed.contains)
        else { throw .invalidBoundary }
        return Data("\r\n--\(boundary)".utf8)
    }

    /// Whether the delimiter is the last one. Blanks may come before the line end of another one (RFC 2046 §5.1.1).
    private static func isClosed(_ rest: inout Data) throws(Failure) -> Bool {
        let isClosed = rest.starts(with: "--".utf8)
        rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard rest.count >= 2 else { throw .truncated }
        return isClosed
    }

    /// Reads the header fields, which the first empty line ends. Its line end stays: a delimiter may begin with it.
    private static func header(
        _ rest: inout Data, upTo limit: Int, _ delimiter: Data
    ) throws(Failure) -> MultipartHeader {
        // A part that starts with the empty line has no fields.
        guard !rest.starts(with: lineEnd) else { throw .missingName }
        let window = rest.prefix(limit + 4)
        let next = window.range(of: delimiter)?.lowerBound ?? window.endIndex
        guard let end = window.range(of: lineEnd + lineEnd), end.lowerBound < next else {
            guard next == window.endIndex else { throw .malformedHeader }
            throw window.count < limit + 4 ? Failure.truncated : .headerTooLarge
        }
        defer { rest = rest[(end.lowerBound + 2)...] }
        return try MultipartHeader(rest[..<end.lowerBound])
    }
}
