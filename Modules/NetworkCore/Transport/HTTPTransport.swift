/// Performs one HTTP exchange: this request out, its answer in.
///
/// *Transport or interceptor?* A transport moves bytes: it is the place for another HTTP library, a proxy, a recorder
/// of traffic, a stub. An interceptor decides *what* is sent and *whether again*. A transport must not retry, must
/// not follow redirects, and must keep neither cookies nor credentials nor cached answers: the client above does all
/// of that in one way for every transport and platform, and a transport that did it too would send tokens where the
/// client would not.
public protocol HTTPTransport: Sendable {
    /// Sends one request and returns as soon as the head of its answer is there.
    ///
    /// - Parameter request: What to send.
    /// - Returns: The answer: any status is one, a redirect (3xx) included.
    /// - Throws: ``HTTPTransportError`` when there is no answer; `CancellationError` promptly when the task is
    ///   cancelled. Errors and cancellation while the body arrives come out of the body.
    func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse
}
