public import AuthInterface

/// Why a call failed: the request, the response, and the cause.
///
/// ```swift
/// catch let error as NetworkError where error.status == 404 { … }
/// catch let error as NetworkError where error.code == .sessionEnded { … }
/// ```
///
/// Descriptions and dumps contain no token, no header value and no body (G17).
public struct NetworkError: Error, Sendable {
    /// What went wrong.
    public let code: Code

    /// The last request of the call.
    public internal(set) var request: RequestSummary?

    /// The head of the response. `nil`: there was none.
    public let response: HTTPResponseHead?

    /// The server's error. `nil`: there was none, or it could not be read.
    public let envelope: ErrorEnvelope?

    /// What happened, for a developer, without a secret.
    public let reason: String?

    /// What the call waited for when its time was up (G25). `nil`: it failed for another reason, or it is not known.
    public internal(set) var waitedFor: Wait?

    /// The pause that the server asked for (`Retry-After`, RFC 9110 §10.2.3), from the response on.
    public let retryAfter: Duration?

    /// The number of the attempt that failed, from 1. 0: no attempt was made.
    public internal(set) var attempt: Int

    /// The time from the start of the call to its failure.
    public internal(set) var elapsed: Duration?

    /// The error underneath: an `AuthenticationError`, ``HTTPTransportError``, ``DecodingFailure``, or the error that
    /// an interceptor threw.
    public let cause: (any Error)?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: What went wrong.
    ///   - reason: What happened, for a developer, without a secret.
    ///   - request: The last request of the call.
    ///   - response: The head of the response.
    ///   - envelope: The server's error.
    ///   - waitedFor: What the call waited for when its time was up.
    ///   - retryAfter: The pause that the server asked for.
    ///   - attempt: The number of the attempt that failed, from 1.
    ///   - elapsed: The time from the start of the call to its failure.
    ///   - cause: The error underneath.
    public init(
        _ code: Code,
        reason: String? = nil,
        request: RequestSummary? = nil,
        response: HTTPResponseHead? = nil,
        envelope: ErrorEnvelope? = nil,
        waitedFor: Wait? = nil,
        retryAfter: Duration? = nil,
        attempt: Int = 0,
        elapsed: Duration? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.reason = reason
        self.request = request
        self.response = response
        self.envelope = envelope
        self.waitedFor = waitedFor
        self.retryAfter = retryAfter
        self.attempt = attempt
        self.elapsed = elapsed
        self.cause = cause
    }

    // Not inlined: reading it beside a stored property crashes the optimizer of Swift 6.3.1.
    /// The status of the response.
    @inline(never) public var status: Int? { response?.status }

    /// The server's identifier of the request: from the error envelope, or else from the `X-Request-ID` field.
    public var requestID: String? { envelope?.requestId ?? response?.headers["X-Request-ID"] }

    /// The error of the token provider, if it is the cause. Its code and the code of this error have the same name.
    public var authentication: AuthenticationError? { cause as? AuthenticationError }
}

extension NetworkError {
    /// Converts any error.
    ///
    /// - Throws: `CancellationError`, if that is the error.
    init(describing error: any Error, otherwise code: Code = .transportFailed) throws {
        switch error {
        case let error as NetworkError: self = error
        case let error as CancellationError: throw error
        case let error as AuthenticationError: self.init(error)
        case let error as HTTPTransportError: self.init(error.code, waitedFor: error.waitedFor, cause: error)
        case let error as HTTPBodyError: self.init(error)
        case let error as HTTPFieldError: self.init(error)
        case let error as DecodingError: self.init(.decodingFailed, cause: DecodingFailure(error))
        default: self.init(code, cause: error)
        }
    }

    /// Converts an error of the token provider, under the code of the same name.
    init(_ error: AuthenticationError, response: HTTPResponseHead? = nil, envelope: ErrorEnvelope? = nil) {
        self.init(
            Code(rawValue: error.code.rawValue),
            response: response,
            envelope: envelope,
            retryAfter: error.retryAfter,
            cause: error
        )
    }

    /// The body of a response did not arrive.
    init(_ error: HTTPTransportError, reading head: HTTPResponseHead) {
        self.init(error.code, reason: error.reason, response: head, waitedFor: error.waitedFor, cause: error)
    }

    /// The failure of a request that was to be sent again and whose body is a one-shot sequence (G21).
    func becauseOfOneShotBody() -> NetworkError {
        NetworkError(
            .bodyNotReplayable,
            reason: "the request failed (\(code)), and its body is a one-shot sequence, which cannot be sent again",
            response: response,
            envelope: envelope,
            retryAfter: retryAfter,
            cause: self
        )
    }
}
