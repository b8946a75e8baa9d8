public import AuthInterface
public import NetworkCore

/// The `Content-Disposition` field of a response (RFC 6266): whether it is a download, and under which name.
public struct ContentDisposition: Sendable, Hashable {
    /// The longest file name, in bytes of UTF-8: what common file systems allow.
    package static let maximumFileNameLength = 255

    /// The type in lower case: `inline`, `attachment`, `form-data`.
    public let type: String

    /// The parameters, with names in lower case. `filename*` is decoded (RFC 8187); an invalid one is left out.
    public let parameters: [String: String]

    /// Reads a field's value. Fails when there is no type.
    ///
    /// Of a parameter that occurs twice, the first one counts. What comes after an invalid parameter is left out.
    ///
    /// - Complexity: O(*n*) in the length of the value.
    public init?(_ field: String) {
        var scanner = FieldScanner(field)
        guard let type = scanner.token() else { return nil }
        self.type = type.lowercased()
        parameters = scanner.parameters(inList: false)
    }

    /// The file name that the server proposes, in the form that is safe to use: `filename*`, or else `filename`, whose
    /// encoded words (RFC 2047) are decoded.
    ///
    /// It is one component of a path, without folders, control characters, characters that change the direction of text
    /// and bytes that are no text, does not begin with a dot, and has at most 255 bytes. `nil`: there is no safe one.
    public var fileName: String? {
        parameters["filename*"].flatMap(Self.safeFileName)
            ?? parameters["filename"].map(EncodedWord.decode).flatMap(Self.safeFileName)
    }

    /// Makes one component of a path of a name that a server wrote. `nil`: nothing of it is safe.
    static func safeFileName(_ name: String) -> String? {
        let last = name.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last ?? []
        let visible = last.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
            default: scalar != "\u{FFFD}"
            }
        }
        let isEdge = { (scalar: Unicode.Scalar) in scalar == "." || scalar.properties.isWhitespace }
        let end = visible.lastIndex { !isEdge($0) }.map { visible.index(after: $0) } ?? visible.startIndex
        let trimmed = visible[..<end].drop(while: isEdge).map { $0 == ":" ? "_" : $0 }
        return trimmed.isEmpty ? nil : shortened(String(String.UnicodeScalarView(trimmed)))
    }

    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > maximumFileNameLength else { return name }
        let dot = name.lastIndex(of: ".")
        let suffix = dot.map { String(name[$0...]) } ?? ""
        let isExtension = !suffix.isEmpty && suffix.utf8.count <= 32
        let stem = isExtension ? name[..<(dot ?? name.endIndex)] : name[...]
        let room = maximumFileNameLength - (isExtension ? suffix.utf8.count : 0)
        return stem.prefix(bytes: room) + (isExtension ? suffix : "")
    }
}

extension Substring {
    /// The start of the text in at most so many bytes of UTF-8.
    func prefix(bytes count: Int) -> String {
        var kept = String.UnicodeScalarView()
        var length = 0
        for scalar in unicodeScalars {
            length += UTF8.width(scalar)
            guard length <= count else { break }
            kept.append(scalar)
        }
        return String(kept)
    }
}

extension ContentDisposition: RedactedDescription {
    /// The type and the names of the parameters; never a value (G17).
    public var description: String { ([type] + parameters.keys.sorted()).joined(separator: "; ") }
}

extension HTTPResponseHead {
    /// The `Content-Disposition` field. `nil`: there is none, or it cannot be read.
    public var contentDisposition: ContentDisposition? {
        headers.values(of: "Content-Disposition").first.flatMap { ContentDisposition($0) }
    }
}
