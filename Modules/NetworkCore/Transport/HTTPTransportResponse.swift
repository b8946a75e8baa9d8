/// The response of one exchange: its head, and its body as it arrives.
public struct HTTPTransportResponse: Sendable {
    /// Status, header fields and URL.
    public let head: HTTPResponseHead

    /// The body. Releasing it before its end cancels the exchange.
    public let body: HTTPResponseBody

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - head: Status, header fields and URL.
    ///   - body: The body.
    public init(head: HTTPResponseHead, body: HTTPResponseBody = HTTPResponseBody()) {
        self.head = head
        self.body = body
    }
}
