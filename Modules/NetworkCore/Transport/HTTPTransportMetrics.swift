/// What an exchange took, as far as the transport can see it.
public struct HTTPTransportMetrics: Sendable, Hashable {
    /// The time the request waited for a connection.
    public var queued: Duration?

    /// The time from the request to the head of the response.
    public var toHead: Duration?

    /// The time from the request to the end of the response.
    public var total: Duration?

    /// The bytes of the request's body that were sent.
    public var bytesSent: Int64

    /// The bytes of the response's body that were received.
    public var bytesReceived: Int64

    /// The protocol as ALPN names it: `http/1.1`, `h2`.
    public var protocolName: String?

    /// Whether the connection had been used before.
    public var isConnectionReused: Bool?

    /// Creates metrics in which nothing is known.
    public init() {
        bytesSent = 0
        bytesReceived = 0
    }
}
