/// What came with the end of a response.
public struct HTTPTransportCompletion: Sendable, Hashable {
    /// The fields after the body (RFC 9110 §6.5). Empty where the transport cannot see them.
    public var trailers: HTTPHeaders

    /// What the exchange took.
    public var metrics: HTTPTransportMetrics

    /// Creates a completion.
    ///
    /// - Parameters:
    ///   - trailers: The fields after the body.
    ///   - metrics: What the exchange took.
    public init(trailers: HTTPHeaders = [:], metrics: HTTPTransportMetrics = HTTPTransportMetrics()) {
        self.trailers = trailers
        self.metrics = metrics
    }
}
