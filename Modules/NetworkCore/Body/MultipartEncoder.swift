import Foundation

extension MultipartForm {
    /// The largest form encoded in memory: 1 MiB. A larger form is written to a temporary file, because only then every
    /// platform sends its length, and later attempts cost no memory either.
    static let memoryLimit: Int64 = 1_024 * 1_024
}

/// Encodes a form as `multipart/form-data` (RFC 7578 §4, quoted as WHATWG HTML defines it).
struct MultipartEncoder {
    private struct Piece {
        let header: Data
        let content: MultipartForm.Part.Content
    }

    private static let chunkSize = 64 * 1_024
    private static let lineEnd = Data("\r\n".utf8)

    private let pieces: [Piece]
    private let closing: Data

    /// The length of the encoded form in bytes.
    let length: Int64

    /// Encodes the headers of the parts and adds up the length, which includes the files.
    ///
    /// - Throws: ``BodyFileError`` when a file cannot be read; ``NetworkError`` with code `encodingFailed` when a media
    ///   type is not a valid field value.
    init(_ form: MultipartForm) throws {
        pieces = try form.parts.map { part in
            Piece(header: try Self.header(of: part, boundary: form.boundary), content: part.content)
        }
        closing = Data("--\(form.boundary)--\r\n".utf8)
        length = try pieces.reduce(Int64(closing.count)) { sum, piece in
            let content =
                switch piece.content {
                case .data(let data): Int64(data.count)
                case .file(let url): try BodyFileError.size(of: url)
                }
            return sum + Int64(piece.header.count) + content + Int64(Self.lineEnd.count)
        }
    }

    /// The form in memory.
    func data() throws -> Data {
        var result = Data(capacity: Int(length))
        try write { result.append($0) }
        return result
    }

    /// The form in a new file that only the current user can read.
    func temporaryFile() throws -> URL {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("latchkey-form-\(UUID().uuidString)")
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: url.path, contents: nil, attributes: attributes) else {
            throw BodyFileError(reason: "the temporary folder cannot be written to")
        }
        do {
            let file = try FileHandle(forWritingTo: url)
            defer { try? file.close() }
            try write { try file.write(contentsOf: $0) }
            return url
        } catch {
            try? FileManager.default.removeItem(at: url)
            throw error
        }
    }

    private func write(_ output: (Data) throws -> Void) throws {
        for piece in pieces {
            try output(piece.header)
            switch piece.content {
            case .data(let data): try output(data)
            case .file(let url): try Self.copy(url, to: output)
            }
            try output(Self.lineEnd)
        }
        try output(closing)
    }

    private static func copy(_ url: URL, to output: (Data) throws -> Void) throws {
        let file = try FileHandle(forReadingFrom: url)
        defer { try? file.close() }
        while let chunk = try file.read(upToCount: chunkSize), !chunk.isEmpty {
            try output(chunk)
        }
    }

    private static func header(of part: MultipartForm.Part, boundary: String) throws -> Data {
        var lines = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(part.name.formQuoted)\""
        if let filename = part.filename { lines += "; filename=\"\(filename.formQuoted)\"" }
        if let contentType = part.contentType {
            guard contentType.isFieldValue else {
                throw NetworkError(.encodingFailed, reason: "the media type of a part contains a control character")
            }
            lines += "\r\nContent-Type: \(contentType)"
        }
        return Data((lines + "\r\n\r\n").utf8)
    }
}

extension String {
    /// The text for a quoted string in a part's header: quotation marks and line ends are percent-encoded, other
    /// characters, UTF-8 and backslashes included, are kept (WHATWG HTML, "multipart form data").
    fileprivate var formQuoted: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": text += "%22"
            case "\r": text += "%0D"
            case "\n": text += "%0A"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
