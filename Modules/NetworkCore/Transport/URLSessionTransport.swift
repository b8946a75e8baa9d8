/// Performs exchanges with URLSession.
public struct URLSessionTransport: HTTPTransport {
    /// Creates a transport.
    public init() {}

    /// Sends one request and returns as soon as the head of its answer is there.
    ///
    /// - Parameter request: What to send.
    /// - Returns: The answer.
    /// - Throws: ``HTTPTransportError``; `CancellationError`.
    public func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        throw HTTPTransportError(.transportFailed, reason: "not built yet")
    }
}
