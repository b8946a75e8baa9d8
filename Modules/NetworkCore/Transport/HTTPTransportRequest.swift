public import Foundation

/// One request, ready to be sent.
public struct HTTPTransportRequest: Sendable {
    /// Method, URL and header fields.
    public let head: HTTPRequestHead

    /// What to send after the head.
    public let body: HTTPTransportBody

    /// The longest silence to bear: the time in which nothing is sent and nothing received.
    public let timeout: Duration

    /// Whether the exchange may happen twice without harm. If not, the transport must not use a connection on which
    /// it could have to send the request again.
    public let isIdempotent: Bool

    /// Hears how much of the body is sent.
    public let progress: ProgressHandler?

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - head: Method, address and header fields.
    ///   - body: What to send after the head.
    ///   - timeout: The longest silence to bear.
    ///   - isIdempotent: Whether the exchange may happen twice without harm.
    ///   - progress: Hears how much of the body is sent.
    public init(
        head: HTTPRequestHead,
        body: HTTPTransportBody = .none,
        timeout: Duration = NetworkConfiguration.defaultTimeout,
        isIdempotent: Bool = false,
        progress: ProgressHandler? = nil
    ) {
        self.head = head
        self.body = body
        self.timeout = timeout
        self.isIdempotent = isIdempotent
        self.progress = progress
    }
}

/// What a transport sends after the head: the four forms every ``RequestBody`` comes down to.
///
/// `Content-Type` is already among the header fields; the length is the transport's to write.
public enum HTTPTransportBody: Sendable {
    /// Nothing.
    case none

    /// Bytes in memory.
    case data(Data)

    /// A file, to be read in pieces.
    case file(URL)

    /// A stream, to be made once for this exchange. The length is `nil` where it is not known.
    case stream(length: Int64?, make: @Sendable () throws -> InputStream)
}

extension HTTPTransportRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Method and address, with the values of token-like query items left out; never a header value or a body (G17).
    public var description: String { RequestSummary(head).description }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows `dump` and debuggers what ``description`` shows.
    public var customMirror: Mirror {
        Mirror(self, children: ["head": description, "body": body.description], displayStyle: .struct)
    }
}

extension HTTPTransportBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of body; never its content.
    public var description: String {
        switch self {
        case .none: "none"
        case .data(let data): "\(data.count) bytes"
        case .file: "file"
        case .stream: "stream"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows `dump` and debuggers what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["kind": description], displayStyle: .enum) }
}
