import ConcurrencyPrimitives

/// Performs one HTTP exchange: this request out, its response in.
///
/// *Transport or interceptor?* A transport moves bytes: it is the place for another HTTP library, a proxy, a stub, and,
/// wrapped around another transport, for a cache, a signature or a recorder of traffic. An interceptor decides *what*
/// is sent and *whether again*. A transport must not retry (an error's ``HTTPTransportError/repetition`` says what it
/// knows), must not follow redirects, and must keep neither cookies nor credentials, and a cache only per session: the
/// client does the rest in one way for every transport and platform, and a transport that did it too would send tokens
/// where the client would not.
///
/// ```swift
/// struct SigningTransport: HTTPTransport {
///     let next: any HTTPTransport
///
///     func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
///         var request = request
///         try request.head.set("Signature", to: sign(request.head))
///         return try await next.perform(request)
///     }
///
///     var endsInTime: Bool { next.endsInTime }
/// }
/// ```
///
/// An adapter to a client with a scoped response handler, as `HTTPAPIs` of apple/swift-http-api-proposal has, runs the
/// client's `perform` in a task: its handler resumes `perform` here with the head, then hands pieces over one by one to
/// ``HTTPBody/init(length:pull:)`` until the body ends or is released, and its concluding value becomes the trailers of
/// the completion. A repeatable ``HTTPBody`` is its restartable request body.
public protocol HTTPTransport: Sendable {
    /// Sends one request and returns as soon as the head of its response is there.
    ///
    /// - Returns: The response. Every status is a response, including a redirect (3xx).
    /// - Throws: ``HTTPTransportError`` when there is no response; `CancellationError` promptly when the task is
    ///   cancelled. Errors and cancellation while the body arrives are thrown by the body.
    func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse

    /// Whether each wait of an exchange ends by itself, with any server and any body: for the head after the request's
    /// time to the head, for the body after the time to the end, and at once when the task is cancelled.
    ///
    /// The client then waits for the transport itself. It waits for another one in a task of its own, which it leaves
    /// behind where that is necessary: that costs a switch between threads, some 30 µs, for each call. The default is
    /// `false`. A transport around another one that adds no wait has the value of that one.
    var endsInTime: Bool { get }
}

extension HTTPTransport {
    /// The transport may ignore time limits and cancellation.
    public var endsInTime: Bool { false }
}

/// Why an exchange has no response, or an incomplete one.
public struct HTTPTransportError: Error, Sendable {
    /// What went wrong. The ``NetworkError`` of the client has the same code.
    public let code: NetworkError.Code

    /// What happened, for a developer, without a secret: no query of a URL, no header value.
    public let reason: String

    /// What the exchange waited for when its time was up.
    public let waitedFor: NetworkError.Wait?

    /// Whether the client sends the request again at once, and once only, independent of its retry policy.
    public let repetition: Repetition

    /// What a transport knows about a request that has no response.
    public enum Repetition: Sendable, Hashable {
        /// Nothing: the server may have processed it.
        case unknown

        /// A kept connection was closed before a byte of the response. Such a request is sent again if it is idempotent
        /// (RFC 9110 §9.2.2).
        case ifIdempotent

        /// The server has said that it did not process the request: any method is sent again (RFC 9113 §8.7).
        case always
    }

    /// Creates an error.
    public init(
        _ code: NetworkError.Code, reason: String, waitedFor: NetworkError.Wait? = nil,
        repetition: Repetition = .unknown
    ) {
        self.code = code
        self.reason = reason
        self.waitedFor = waitedFor
        self.repetition = repetition
    }
}

extension HTTPTransportError {
    /// A limit passed while the exchange waited for something.
    package static func waited(for wait: NetworkError.Wait, atMost limit: Duration) -> Self {
        Self(.timedOut, reason: "waited for \(wait) for \(limit.inWords)", waitedFor: wait)
    }
}

extension HTTPTransportError: CustomStringConvertible {
    /// The code and the reason.
    public var description: String { "\(code): \(reason)" }
}
