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

/// One part of a multipart/form-data body (RFC 7578 §4).
struct MultipartPart: Sendable, Hashable {
    /// The `name` parameter of its Content-Disposition.
    let name: String
    /// The `filename` parameter, if any. A label, never a path to write to.
    let filename: String?
    /// The media type of its Content-Type field, in lower case, if any.
    let contentType: String?
    /// Its content.
    let content: Data

    /// Reads the header fields that form-data defines (RFC 7578 §4.2 and §4.4) and ignores all others.
    ///
    /// - Throws: `malformedHeader` for a line without a colon, a folded line (which RFC 7578 does not allow), bytes
    ///   that are not UTF-8, a bare CR or LF, or a field that occurs twice; `missingName`.
    init(header: Data, content: Data) throws(MultipartParser.Failure) {
        let fields = try Self.fields(in: header)
        let disposition = try Self.value(of: "content-disposition", in: fields)
        guard let disposition, disposition.value.lowercased() == "form-data", let name = disposition.parameters["name"]
        else { throw .missingName }
        self.name = name
        filename = disposition.parameters["filename"]
        contentType = try Self.value(of: "content-type", in: fields)?.value.lowercased()
        self.content = content
    }

    /// The header fields by their lower-case names.
    private static func fields(in header: Data) throws(MultipartParser.Failure) -> [String: String] {
        guard let text = String(validating: header, as: UTF8.self) else { throw .malformedHeader }
        var fields: [String: String] = [:]
        // Split and searched by scalars: CR LF is one Character, so a bare CR or LF would go unnoticed.
        for line in text.components(separatedBy: "\r\n") where !line.isEmpty {
            guard
                !line.unicodeScalars.contains(where: { $0 == "\r" || $0 == "\n" || $0 == "\0" }),
                let colon = line.firstIndex(of: ":"), colon > line.startIndex
            else { throw .malformedHeader }
            let name = line[..<colon].lowercased()
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            guard !name.contains(where: \.isWhitespace), fields.updateValue(value, forKey: name) == nil else {
                throw .malformedHeader
            }
        }
        return fields
    }

    private static func value(
        of name: String, in fields: [String: String]
    ) throws(MultipartParser.Failure) -> ParameterizedValue? {
        guard let text = fields[name] else { return nil }
        guard let value = ParameterizedValue(text) else { throw .malformedHeader }
        return value
    }
}
