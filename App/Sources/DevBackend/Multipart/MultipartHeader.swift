import Foundation

/// The header fields of one part that form-data gives a meaning to (RFC 7578 §4.2 and §4.4). Others are ignored.
struct MultipartHeader {
    private(set) var name: String?
    private(set) var filename: String?
    private(set) var contentType: String?

    /// Reads the fields.
    ///
    /// - Throws: `MultipartError.malformedHeader` for a line without a colon, a folded line (RFC 7578 knows none),
    ///   bytes that are not UTF-8, a bare CR or LF, or a field that occurs twice.
    init(_ bytes: Data) throws(MultipartError) {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .malformedHeader }
        var seen: Set<String> = []
        // Split by scalars: Swift takes CR LF for one character, so a bare CR or LF would go unnoticed.
        for line in text.components(separatedBy: "\r\n") where !line.isEmpty {
            guard
                !line.unicodeScalars.contains(where: { $0 == "\r" || $0 == "\n" || $0 == "\0" }),
                let colon = line.firstIndex(of: ":"), colon > line.startIndex
            else { throw .malformedHeader }
            let field = line[..<colon].lowercased()
            guard !field.contains(where: \.isWhitespace), seen.insert(field).inserted else { throw .malformedHeader }
            try read(field, value: line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces))
        }
    }

    private mutating func read(_ field: String, value: String) throws(MultipartError) {
        switch field {
        case "content-disposition":
            guard let disposition = ParameterizedValue(value) else { throw .malformedHeader }
            guard disposition.value.lowercased() == "form-data" else { throw .missingName }
            name = disposition.parameters["name"]
            filename = disposition.parameters["filename"]
        case "content-type":
            guard let type = ParameterizedValue(value) else { throw .malformedHeader }
            contentType = type.value.lowercased()
        default:
            break
        }
    }
}
