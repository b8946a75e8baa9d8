/// Performs one HTTP exchange: a request and its response.
///
/// *Transport or interceptor?* A transport moves bytes: write one for another HTTP library, a proxy, a recorder of traffic,
/// a stub. An interceptor decides *what* is sent and *whether again*. A transport must not retry, must not follow
/// redirects, and must not keep cookies, credentials or cached responses. The client does so in the same way for every
/// transport and platform, and a transport that did it too would send tokens to origins that must not receive them.
public protocol HTTPTransport: Sendable {
    /// Sends one request and returns when the head of the response has arrived.
    ///
    /// - Parameter request: The request.
    /// - Returns: The response. Its status may be any, a redirect (3xx) included.
    /// - Throws: ``HTTPTransportError`` when there is no response; `CancellationError` promptly when the task is cancelled.
    ///   While the body arrives, the body throws both.
    func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse
}
