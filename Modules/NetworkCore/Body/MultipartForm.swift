public import AuthInterface
public import Foundation

/// Fields and files in one body (`multipart/form-data`, RFC 7578).
///
/// ```swift
/// var form = MultipartForm()
/// form.append("name", "Ada")
/// form.append("image", data: photo, filename: "photo.jpg", contentType: "image/jpeg")
/// ```
///
/// Names are sent composed (NFC), as servers compare them: Apple's file systems give `ü` as two characters.
///
/// A form of up to 1 MiB is encoded in memory. A larger one is read in pieces while it is sent, at no cost in memory.
public struct MultipartForm: Sendable {
    struct Part: Sendable {
        enum Content: Sendable {
            case data(Data)
            case file(URL)
        }

        let name: String
        let filename: String?
        let contentType: String?
        let content: Content
    }

    /// The largest form that is encoded in memory.
    static let memoryLimit: Int64 = 1_024 * 1_024

    private(set) var parts: [Part] = []

    /// The boundary between the parts. It is random, so that content does not contain it by accident.
    let boundary: String

    /// Creates an empty form.
    public init() { self.init(boundary: "latchkey-\(UUID().uuidString)") }

    init(boundary: String) { self.boundary = boundary }

    /// Appends a text field. The value is sent as UTF-8, and its line ends as CR LF, as browsers send them.
    public mutating func append(_ name: String, _ value: String) {
        let value = Data(value.withFormLineEnds.utf8)
        parts.append(Part(name: name, filename: nil, contentType: nil, content: .data(value)))
    }

    /// Appends bytes as a file. Without a file name they are a field with a media type, such as one of JSON.
    public mutating func append(_ name: String, data: Data, filename: String? = nil, contentType: String) {
        parts.append(Part(name: name, filename: filename, contentType: contentType, content: .data(data)))
    }

    /// Appends a file, by default named as its path is. It must not change before the call has ended.
    public mutating func append(_ name: String, file: URL, filename: String? = nil, contentType: String) {
        let filename = filename ?? file.lastPathComponent
        parts.append(Part(name: name, filename: filename, contentType: contentType, content: .file(file)))
    }

    var contentType: String { "multipart/form-data; boundary=\(boundary)" }
}

extension MultipartForm: RedactedDescription {
    /// The number of parts; never their content (G17).
    public var description: String { "MultipartForm(parts: \(parts.count))" }
}

/// Encodes a form as `multipart/form-data` (RFC 7578 §4, quoted as WHATWG HTML defines it).
struct MultipartEncoder {
    /// The headers and contents of the parts: bytes and files.
    private let segments: [HTTPBody]

    /// The length of the encoded form in bytes.
    let length: Int64

    /// Encodes the headers of the parts and adds up the length, which includes the files.
    ///
    /// - Throws: ``HTTPBodyError`` when a file cannot be read, or the length is no number; ``NetworkError`` with code
    ///   `encodingFailed` when a media type is not fit for a header field.
    init(_ form: MultipartForm) throws {
        var segments: [HTTPBody] = []
        for part in form.parts {
            segments.append(HTTPBody(try Self.header(of: part, boundary: form.boundary)))
            switch part.content {
            case .data(let data): segments.append(HTTPBody(data))
            case .file(let url): segments.append(try HTTPBody(file: url))
            }
            segments.append(HTTPBody(Data("\r\n".utf8)))
        }
        self.segments = segments + [HTTPBody(Data("--\(form.boundary)--\r\n".utf8))]
        length = try Self.sum(self.segments.compactMap(\.length))
    }

    /// Adds up the sizes of segments. A sparse file may have any size.
    ///
    /// - Throws: ``HTTPBodyError`` with code `tooLong` when the sum is no number.
    static func sum(_ sizes: [Int64]) throws(HTTPBodyError) -> Int64 {
        var sum: Int64 = 0
        for size in sizes {
            let (next, overflow) = sum.addingReportingOverflow(size)
            guard !overflow else { throw HTTPBodyError.unknownLength }
            sum = next
        }
        return sum
    }

    /// The form: in memory while it is small, else read in pieces, with its length. It is repeatable.
    func body() throws -> HTTPBody {
        if length <= MultipartForm.memoryLimit { return HTTPBody(try data()) }
        return HTTPBody(length: length) { [segments] in Pieces(rest: segments[...]) }
    }

    /// The form in memory.
    func data() throws -> Data {
        var result = Data(capacity: Int(length))
        for segment in segments {
            result += segment.data ?? Data()
            let file = try segment.file.map { try FileReader($0, size: segment.length) }
            while let piece = try file?.next() { result += piece }
        }
        return result
    }

    /// The pieces of a form, files in pieces of 64 KB.
    private struct Pieces: AsyncSequence, AsyncIteratorProtocol {
        var rest: ArraySlice<HTTPBody>
        var segment: HTTPBody.AsyncIterator?

        func makeAsyncIterator() -> Pieces { self }

        mutating func next() async throws -> Data? {
            while true {
                if let piece = try await segment?.next() { return piece }
                guard let next = rest.popFirst() else { return nil }
                segment = next.makeAsyncIterator()
            }
        }
    }

    private static func header(of part: MultipartForm.Part, boundary: String) throws -> Data {
        let name = part.name.withFormLineEnds.formQuoted
        var lines = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\""
        if let filename = part.filename { lines += "; filename=\"\(filename.formQuoted)\"" }
        if let contentType = part.contentType {
            guard contentType.isFieldValue else {
                throw NetworkError(.encodingFailed, reason: "a part's media type has a control character in it")
            }
            lines += "\r\nContent-Type: \(contentType)"
        }
        return Data((lines + "\r\n\r\n").utf8)
    }
}

extension String {
    /// The text with CR LF for each line end, a single CR or LF included (WHATWG HTML, "multipart form data"). It is
    /// for names of fields and texts, and not for names of files.
    fileprivate var withFormLineEnds: String {
        replacingOccurrences(of: "\r\n?|\n", with: "\r\n", options: .regularExpression)
    }

    /// The text in NFC, made fit for quotation marks in a part's header: a quotation mark and line ends are
    /// percent-encoded, everything else, UTF-8 and backslashes included, stays (WHATWG HTML, "multipart form data").
    fileprivate var formQuoted: String {
        let escapes: [Unicode.Scalar: String] = ["\"": "%22", "\r": "%0D", "\n": "%0A"]
        return precomposedStringWithCanonicalMapping.unicodeScalars.map { escapes[$0] ?? String($0) }.joined()
    }
}
