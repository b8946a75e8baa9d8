package import Foundation

/// One part of a multipart/form-data body (RFC 7578 §4).
package struct MultipartPart: Sendable, Hashable {
    package let header: MultipartHeader
    package let content: Data
}

/// The header fields that form-data defines (RFC 7578 §4.2 and §4.4).
package struct MultipartHeader: Sendable, Hashable {
    /// The `name` parameter of Content-Disposition.
    package let name: String
    /// The `filename` parameter, if any. A label, never a path to write to.
    package let filename: String?

    /// Reads header fields, and ignores those that form-data does not define.
    ///
    /// - Throws: `malformedHeader` for a line without a colon, a folded line (which RFC 7578 does not allow), bytes
    ///   that are not UTF-8, a bare CR or LF, or a field that occurs twice; `missingName`.
    init(_ header: Data) throws(MultipartParser.Failure) {
        let fields = try Self.fields(in: header)
        guard let text = fields["content-disposition"] else { throw .missingName }
        guard let disposition = ParameterizedValue(text) else { throw .malformedHeader }
        guard disposition.value.lowercased() == "form-data", let name = disposition.parameters["name"]
        else { throw .missingName }
        self.name = name
        filename = disposition.parameters["filename"]
    }

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
}
