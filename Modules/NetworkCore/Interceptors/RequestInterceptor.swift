/// Changes requests before they are sent, and decides whether a failed one is sent again.
///
/// An interceptor works on *requests*: their content, and whether there is another attempt. To change how bytes reach
/// the server, write an ``HTTPTransport``. Interceptors do not see tokens, which are placed after the last one.
///
/// ```swift
/// struct PreferredLanguage: RequestInterceptor {
///     func adapt(_ request: HTTPRequestHead, context: RequestContext) async throws -> HTTPRequestHead {
///         try request.setting("Accept-Language", to: code)
///     }
/// }
/// ```
public protocol RequestInterceptor: Sendable {
    /// Returns the request to send in an attempt. The default changes nothing.
    ///
    /// A field that cannot be sent, or that belongs to the transport, fails the call with code `invalidRequest`.
    ///
    /// - Throws: Any error. The call fails with a ``NetworkError`` that is thrown, or else with code
    ///   `interceptorFailed`. `CancellationError` when the task is cancelled.
    func adapt(_ request: HTTPRequestHead, context: RequestContext) async throws -> HTTPRequestHead

    /// Decides whether and when a failed request is sent again. The default does not retry.
    ///
    /// Interceptors are asked in order until one retries. Then every interceptor adapts the request again.
    ///
    /// - Throws: Any error, with which the call fails in place of `failure`. `CancellationError` when cancelled.
    func retry(_ failure: NetworkError, context: RequestContext) async throws -> RetryDecision
}

extension RequestInterceptor {
    /// Changes nothing.
    public func adapt(_ request: HTTPRequestHead, context: RequestContext) -> HTTPRequestHead { request }

    /// Does not retry.
    public func retry(_ failure: NetworkError, context: RequestContext) -> RetryDecision { .doNotRetry }
}

/// Whether a failed request is sent again.
public enum RetryDecision: Sendable, Hashable {
    /// This interceptor does not retry. The next one is asked.
    case doNotRetry

    /// The request is sent again after a pause. `.zero`: at once.
    case retry(after: Duration)
}
