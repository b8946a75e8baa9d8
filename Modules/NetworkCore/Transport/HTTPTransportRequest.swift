public import AuthInterface

/// The request of one exchange.
public struct HTTPTransportRequest: Sendable {
    /// Method, URL and header fields. Its body and its timeout are ignored.
    public let head: URLRequest

    /// The body.
    public let body: HTTPTransportBody

    /// The idle timeout: how long nothing may be sent or received.
    public let timeout: Duration

    /// Whether the exchange may happen twice without harm. If not, the transport must not use a connection on which it may
    /// have to send the request again.
    public let isIdempotent: Bool

    /// Called as the body is sent.
    public let progress: ProgressHandler?

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - head: Method, URL and header fields.
    ///   - body: The body.
    ///   - timeout: The idle timeout.
    ///   - isIdempotent: Whether the exchange may happen twice without harm.
    ///   - progress: Called as the body is sent.
    public init(
        head: URLRequest,
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

extension HTTPTransportRequest: RedactedDescription {
    /// The method and URL without secrets, never a header value or a body (G17).
    public var description: String { RequestSummary(head).description }
}
