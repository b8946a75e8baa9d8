/// One response: its head, and its body as it arrives.
public struct HTTPTransportResponse: Sendable {
    /// Status, header fields and URL.
    public var head: HTTPResponseHead

    /// The body. One reader reads it, once; releasing it before its end ends the exchange. It throws
    /// ``HTTPTransportError`` when it breaks off.
    public var body: HTTPBody

    private let end: @Sendable () async throws -> HTTPTransportCompletion

    /// Creates a response, with a closure that waits for the end of the body and returns what came with it.
    public init(
        head: HTTPResponseHead, body: HTTPBody = .none,
        completion: @escaping @Sendable () async throws -> HTTPTransportCompletion = { HTTPTransportCompletion() }
    ) {
        self.head = head
        self.body = body
        end = completion
    }

    /// Waits for the end of the body. It does not read the body: something else must.
    ///
    /// - Throws: ``HTTPTransportError`` when the body broke off; `CancellationError` when the task is cancelled, or the
    ///   body was released before its end.
    public func completion() async throws -> HTTPTransportCompletion { try await end() }
}

/// What came with the end of a response.
public struct HTTPTransportCompletion: Sendable, Hashable {
    /// The fields after the body (RFC 9110 §6.5). Empty where the transport cannot see them.
    public var trailers: HTTPHeaders

    /// What the exchange took.
    public var metrics: HTTPTransportMetrics

    /// Creates a completion.
    public init(trailers: HTTPHeaders = [:], metrics: HTTPTransportMetrics = HTTPTransportMetrics()) {
        self.trailers = trailers
        self.metrics = metrics
    }
}

/// What an exchange took, as far as the transport can see it.
public struct HTTPTransportMetrics: Sendable, Hashable {
    /// The time the request waited for a connection.
    public var queued: Duration?

    /// The time from the request to the head of the response.
    public var toHead: Duration?

    /// The time from the request to the end of the response.
    public var total: Duration?

    /// The bytes of the request's body that were sent.
    public var bytesSent: Int64 = 0

    /// The bytes of the response's body that were received.
    public var bytesReceived: Int64 = 0

    /// The protocol as ALPN names it: `http/1.1`, `h2`.
    public var protocolName: String?

    /// Whether the connection had been used before.
    public var isConnectionReused: Bool?

    /// Creates metrics in which nothing is known.
    public init() {}
}
