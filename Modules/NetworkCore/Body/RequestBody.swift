public import AuthInterface
public import Foundation

/// The body of a request, and whether it can be sent again (G21).
///
/// Data, files, forms and closures that make a sequence are repeatable: each attempt sends them in full. A one-shot
/// sequence is read by the first attempt; a request with one is never sent again, and the error says so.
public struct RequestBody: Sendable {
    enum Content: Sendable {
        case body(HTTPBody)
        case encoded(@Sendable (JSONCoding) throws -> Data)
        case file(URL)
        case multipart(MultipartForm)
    }

    let content: Content

    /// The media type (RFC 9110 §8.3). `nil`: there is no body.
    public let contentType: String?

    private var makeTrailers: (@Sendable () async throws -> HTTPHeaders)?

    /// No body.
    public static let none = RequestBody(content: .body(.none), contentType: nil)

    /// Bytes in memory.
    public static func data(_ data: Data, contentType: String = "application/octet-stream") -> RequestBody {
        RequestBody(content: .body(HTTPBody(data)), contentType: contentType)
    }

    /// A value as JSON, encoded by the client's encoder when the request is sent.
    ///
    /// A request whose value cannot be encoded fails with code `encodingFailed`.
    public static func json(_ value: some Encodable & Sendable) -> RequestBody {
        RequestBody(content: .encoded { try $0.makeEncoder().encode(value) }, contentType: "application/json")
    }

    /// Names and values as a form (`application/x-www-form-urlencoded`), as OAuth 2 needs them (RFC 6749 appendix B).
    public static func form(_ items: QueryItems) -> RequestBody {
        let body = HTTPBody(Data(items.percentEncoded.utf8))
        return RequestBody(content: .body(body), contentType: "application/x-www-form-urlencoded")
    }

    /// A file, read in pieces while it is sent, in constant memory. It must not change before the call has ended.
    public static func file(_ url: URL, contentType: String = "application/octet-stream") -> RequestBody {
        RequestBody(content: .file(url), contentType: contentType)
    }

    /// Fields and files (`multipart/form-data`, RFC 7578).
    public static func multipart(_ form: MultipartForm) -> RequestBody {
        RequestBody(content: .multipart(form), contentType: form.contentType)
    }

    /// A sequence that is made anew for each attempt, from its first byte. Its length in bytes, where it is known, is
    /// sent and makes progress meaningful; another number of bytes is an error.
    public static func sequence<Pieces: AsyncSequence & SendableMetatype>(
        contentType: String = "application/octet-stream", length: Int64? = nil,
        make: @escaping @Sendable () throws -> Pieces
    ) -> RequestBody where Pieces.Element == Data {
        RequestBody(content: .body(HTTPBody(length: length, make: make)), contentType: contentType)
    }

    /// A sequence that can be read once. A request with such a body is never sent again.
    public static func oneShot<Pieces: AsyncSequence & Sendable>(
        _ pieces: Pieces, contentType: String = "application/octet-stream", length: Int64? = nil
    ) -> RequestBody where Pieces.Element == Data {
        RequestBody(content: .body(HTTPBody(once: pieces, length: length)), contentType: contentType)
    }

    /// The same body with fields after it, such as its checksum (RFC 9110 §6.5).
    ///
    /// They are made for each attempt, when the body has been read to its end. Not every transport can send them, and
    /// not every server reads them: see ``HTTPBody/trailers``.
    public func trailers(_ make: @escaping @Sendable () async throws -> HTTPHeaders) -> RequestBody {
        var copy = self
        copy.makeTrailers = make
        return copy
    }

    /// Whether the body can be sent more than once.
    package var isReplayable: Bool { if case .body(let body) = content { body.isReplayable } else { true } }

    /// The parts of the body, where it is a form of parts.
    var form: MultipartForm? { if case .multipart(let form) = content { form } else { nil } }
}

extension RequestBody: RedactedDescription {
    /// The kind of body and its media type; never its content (G17).
    public var description: String {
        let kind =
            switch content {
            case .body(let body): body.description
            case .encoded: "encoded when sent"
            case .file: "file"
            case .multipart: "multipart"
            }
        return contentType.map { "\(kind) (\($0))" } ?? kind
    }
}

extension RequestBody {
    /// Makes the body ready to be sent, once for all attempts of a call.
    ///
    /// - Throws: ``NetworkError`` with code `encodingFailed`.
    func encoded(by coding: JSONCoding) throws -> HTTPBody {
        do {
            var body =
                switch content {
                case .body(let body): body
                case .encoded(let encode): HTTPBody(try encode(coding))
                case .file(let url): try HTTPBody(file: url)
                case .multipart(let form): try MultipartEncoder(form).body()
                }
            if let makeTrailers { body.trailers = makeTrailers }
            return body
        } catch let error where error is NetworkError || error is HTTPBodyError {
            throw try NetworkError(describing: error)
        } catch {
            // An `EncodingError` quotes the value.
            throw NetworkError(.encodingFailed, reason: "the body cannot be encoded (\(type(of: error)))")
        }
    }
}
