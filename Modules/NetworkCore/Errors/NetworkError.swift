public import AuthInterface

/// Why a call failed: what was asked, what was answered, and what lies underneath.
///
/// ```swift
/// catch let error as NetworkError where error.status == 404 { … }
/// catch let error as NetworkError where error.code == .sessionEnded { … }
/// ```
///
/// Descriptions and dumps hold no token, no header value and no body (G17).
public struct NetworkError: Error, Sendable {
    /// What went wrong.
    public let code: Code

    /// What was asked: the call's last request.
    public internal(set) var request: RequestSummary?

    /// The head of the answer, where there was one.
    public let response: HTTPResponseHead?

    /// What the server said about the error, where it could be read.
    public let envelope: ErrorEnvelope?

    /// What happened, in words, without a secret.
    public let reason: String?

    /// How long the server asked to be left alone (`Retry-After`, RFC 9110 §10.2.3), counted from the answer.
    public let retryAfter: Duration?

    /// The number of the attempt that failed, from 1. 0: none was made.
    public internal(set) var attempt: Int

    /// The most attempts the client would make.
    public internal(set) var maximumAttempts: Int?

    /// The time from the call's begin to its failure.
    public internal(set) var elapsed: Duration?

    /// The error underneath: an `AuthenticationError`, ``HTTPTransportError``, ``DecodingFailure``, or what an
    /// interceptor threw.
    public let cause: (any Error)?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: What went wrong.
    ///   - reason: What happened, in words, without a secret.
    ///   - request: What was asked.
    ///   - response: The head of the answer.
    ///   - envelope: What the server said about the error.
    ///   - retryAfter: How long the server asked to be left alone.
    ///   - attempt: The number of the attempt that failed, from 1.
    ///   - maximumAttempts: The most attempts the client would make.
    ///   - elapsed: The time from the call's begin to its failure.
    ///   - cause: The error underneath.
    public init(
        _ code: Code,
        reason: String? = nil,
        request: RequestSummary? = nil,
        response: HTTPResponseHead? = nil,
        envelope: ErrorEnvelope? = nil,
        retryAfter: Duration? = nil,
        attempt: Int = 0,
        maximumAttempts: Int? = nil,
        elapsed: Duration? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.reason = reason
        self.request = request
        self.response = response
        self.envelope = envelope
        self.retryAfter = retryAfter
        self.attempt = attempt
        self.maximumAttempts = maximumAttempts
        self.elapsed = elapsed
        self.cause = cause
    }

    /// The status of the answer, where there was one.
    public var status: Int? { response?.status }

    /// The server's name for the request: from the error envelope, else from an `X-Request-ID` field.
    public var requestID: String? { envelope?.requestId ?? response?.headers["X-Request-ID"] }

    /// The error of the token provider, where that is why the call failed.
    ///
    /// Its code and the code of this error have the same name.
    public var authentication: AuthenticationError? { cause as? AuthenticationError }
}
