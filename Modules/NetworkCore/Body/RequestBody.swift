public import AuthInterface
public import Foundation

/// The body of a request, and whether it can be sent again (G21).
///
/// Data, files, forms and stream *factories* are replayable: each attempt sends them in full. A one-shot stream is read
/// by the first attempt; a request with one is never sent again, and its error says so.
public struct RequestBody: Sendable {
    enum Content: Sendable {
        case none
        case data(Data)
        case encoded(@Sendable (JSONCoding) throws -> Data)
        case file(URL)
        case multipart(MultipartForm)
        case stream(length: Int64?, make: @Sendable () throws -> InputStream)
        case oneShot(length: Int64?, OneShotStream)
    }

    let content: Content

    /// The media type (RFC 9110 §8.3). `nil`: there is no body.
    public let contentType: String?

    private init(_ content: Content, contentType: String?) {
        self.content = content
        self.contentType = contentType
    }

    /// No body.
    public static let none = RequestBody(.none, contentType: nil)

    /// Bytes in memory.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - contentType: The media type.
    /// - Returns: The body.
    public static func data(_ data: Data, contentType: String = "application/octet-stream") -> RequestBody {
        RequestBody(.data(data), contentType: contentType)
    }

    /// A value as JSON, encoded by the client's encoder when the request is sent.
    ///
    /// A request whose value cannot be encoded fails with code `encodingFailed`.
    ///
    /// - Parameter value: The value.
    /// - Returns: The body.
    public static func json(_ value: some Encodable & Sendable) -> RequestBody {
        RequestBody(.encoded { try $0.makeEncoder().encode(value) }, contentType: "application/json")
    }

    /// Names and values as a form (`application/x-www-form-urlencoded`), as OAuth 2 needs them (RFC 6749 appendix B).
    ///
    /// - Parameter items: The names and values.
    /// - Returns: The body.
    public static func form(_ items: QueryItems) -> RequestBody {
        RequestBody(.data(Data(items.percentEncoded.utf8)), contentType: "application/x-www-form-urlencoded")
    }

    /// A file, read in pieces while it is sent, in constant memory.
    ///
    /// - Parameters:
    ///   - url: The file. It must not change before the call has ended.
    ///   - contentType: The media type.
    /// - Returns: The body.
    public static func file(_ url: URL, contentType: String = "application/octet-stream") -> RequestBody {
        RequestBody(.file(url), contentType: contentType)
    }

    /// Fields and files (`multipart/form-data`, RFC 7578).
    ///
    /// - Parameter form: The form.
    /// - Returns: The body.
    public static func multipart(_ form: MultipartForm) -> RequestBody {
        RequestBody(.multipart(form), contentType: form.contentType)
    }

    /// A new stream for each attempt.
    ///
    /// - Parameters:
    ///   - contentType: The media type.
    ///   - length: The number of bytes, if it is known. Progress needs it for a fraction.
    ///   - makeStream: Creates a stream from the first byte on. Each attempt calls it once.
    /// - Returns: The body.
    public static func stream(
        contentType: String = "application/octet-stream",
        length: Int64? = nil,
        makeStream: @escaping @Sendable () throws -> InputStream
    ) -> RequestBody {
        RequestBody(.stream(length: length, make: makeStream), contentType: contentType)
    }

    /// A stream that can be read once. A request with such a body is never sent again.
    ///
    /// - Parameters:
    ///   - stream: The stream, not yet opened.
    ///   - contentType: The media type.
    ///   - length: The number of bytes, if it is known.
    /// - Returns: The body.
    public static func oneShot(
        _ stream: sending InputStream,
        contentType: String = "application/octet-stream",
        length: Int64? = nil
    ) -> RequestBody {
        RequestBody(.oneShot(length: length, OneShotStream(stream)), contentType: contentType)
    }

    /// Whether the body can be sent more than once.
    public var isReplayable: Bool {
        if case .oneShot = content { false } else { true }
    }

    /// Whether there is no body.
    public var isEmpty: Bool {
        if case .none = content { true } else { false }
    }
}

extension RequestBody: RedactedDescription {
    /// The kind of body and its media type; never its content (G17).
    public var description: String {
        let kind =
            switch content {
            case .none: "none"
            case .data(let data): "\(data.count) bytes"
            case .encoded: "encoded when sent"
            case .file: "file"
            case .multipart: "multipart"
            case .stream: "stream"
            case .oneShot: "one-shot stream"
            }
        return contentType.map { "\(kind) (\($0))" } ?? kind
    }
}
