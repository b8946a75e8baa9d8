/// Changes requests before they go out, and says whether a failed one is sent again (row N3).
///
/// An interceptor works on *requests*: what they say, whether there is another attempt. To change how bytes reach the
/// server, write an ``HTTPTransport``. Neither sees tokens: they are placed after the last interceptor.
///
/// ```swift
/// struct PreferredLanguage: RequestInterceptor {
///     func adapt(_ request: HTTPRequestHead, context: RequestContext) async throws -> HTTPRequestHead {
///         try request.setting("Accept-Language", to: code)
///     }
/// }
/// ```
public protocol RequestInterceptor: Sendable {
    /// Changes a request before an attempt. The default changes nothing.
    ///
    /// A field that cannot be sent, or that belongs to the transport, fails the request with code `invalidRequest`.
    ///
    /// - Parameters:
    ///   - request: The request: method, address, header fields.
    ///   - context: What is known of the call.
    /// - Returns: The request to send.
    /// - Throws: Anything: the request is not sent and fails with code `interceptorFailed`, or as the
    ///   ``NetworkError`` that was thrown. `CancellationError` when the task is cancelled.
    func adapt(_ request: HTTPRequestHead, context: RequestContext) async throws -> HTTPRequestHead

    /// Says whether a failed request is sent again. The default says no.
    ///
    /// Interceptors are asked in order until one says yes. All of `adapt` then runs again.
    ///
    /// - Parameters:
    ///   - failure: Why the attempt failed.
    ///   - context: What is known of the call.
    /// - Returns: Whether and when to send the request again.
    /// - Throws: Anything, which ends the call in place of the failure. `CancellationError` when the task is
    ///   cancelled.
    func retry(_ failure: NetworkError, context: RequestContext) async throws -> RetryDecision
}

extension RequestInterceptor {
    /// Changes nothing.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - context: What is known of the call.
    /// - Returns: The request.
    public func adapt(_ request: HTTPRequestHead, context: RequestContext) -> HTTPRequestHead { request }

    /// Says no.
    ///
    /// - Parameters:
    ///   - failure: Why the attempt failed.
    ///   - context: What is known of the call.
    /// - Returns: Not to retry.
    public func retry(_ failure: NetworkError, context: RequestContext) -> RetryDecision { .doNotRetry }
}

/// Whether a failed request is sent again.
public enum RetryDecision: Sendable, Hashable {
    /// Not for this interceptor's sake; the next one is asked.
    case doNotRetry

    /// Again, after a pause. `.zero` means at once.
    case retry(after: Duration)
}
