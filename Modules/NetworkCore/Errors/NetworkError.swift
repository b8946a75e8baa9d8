public import AuthInterface

public import struct Foundation.Data

/// Why a call failed: the request, the response, and the cause.
///
/// ```swift
/// catch let error as NetworkError where error.status == 404 { … }
/// catch let error as NetworkError where error.code == .sessionEnded { … }
/// ```
///
/// Descriptions and dumps contain no token, no header value and no body (G17).
public struct NetworkError: Error, Sendable {
    /// The most bytes of a response that an error keeps: 64 KiB.
    package static let maximumBodyLength = 64 * 1_024

    /// What went wrong.
    public let code: Code

    /// The last request of the call.
    public package(set) var request: RequestSummary?

    /// The head of the response. `nil`: there was none.
    public package(set) var response: HTTPResponseHead?

    /// The server's error, without the secrets of the call. `nil`: there was none, or it could not be read.
    public package(set) var serverError: ServerError?

    /// What happened, for a developer, without a secret.
    public package(set) var reason: String?

    /// The body of the response, as the server sent it: at most 64 KiB of one that was refused or could not be read. No
    /// description shows it; see ``decode(_:)``.
    public package(set) var body: Data?

    /// The length of the whole body in bytes.
    var bodyLength = 0

    /// Whether the body of a refusal broke off, came too late, or was too long to read.
    var lacksBody = false

    /// Media type, length and digest of a body without an error that could be read.
    var fingerprint: String?

    /// Reads ``body``.
    var format: (any ResponseFormat)?

    /// Whether the error has been given the call's request, attempt and time, and has lost its secrets.
    var isOfCall = false

    /// What the call waited for when its time was up (G25). `nil`: it failed for another reason, or it is not known.
    public package(set) var waitedFor: Wait?

    /// The pause that the server asked for from the response on (`Retry-After`, or the reset of a limit).
    public let retryAfter: Duration?

    /// What the server demands of the user before it accepts the call (G32). `nil`: it demands nothing.
    public package(set) var stepUp: StepUpChallenge?

    /// The number of the attempt that failed, from 1. 0: no attempt was made.
    public package(set) var attempt = 0

    /// The time from the start of the call to its failure.
    public package(set) var elapsed: Duration?

    /// The error underneath: an `AuthenticationError`, ``HTTPTransportError``, ``DecodingFailure``, or any other.
    public package(set) var cause: (any Error)?

    /// Creates an error.
    public init(
        _ code: Code,
        reason: String? = nil,
        response: HTTPResponseHead? = nil,
        serverError: ServerError? = nil,
        waitedFor: Wait? = nil,
        retryAfter: Duration? = nil,
        cause: (any Error)? = nil,
        stepUp: StepUpChallenge? = nil
    ) {
        self.code = code
        self.stepUp = stepUp
        self.reason = reason
        self.response = response
        self.serverError = serverError
        self.waitedFor = waitedFor
        self.retryAfter = retryAfter
        self.cause = cause
    }

    // Not inlined: reading it beside a stored property crashes the optimizer of Swift 6.3.1.
    /// The status of the response.
    @inline(never) public var status: Int? { response?.status }

    /// The server's identifier of the request: from its error, or else from the `X-Request-ID` field.
    public var requestID: String? { serverError?.requestId ?? response?.headers["X-Request-ID"] }

    /// The error of the token provider, if it is the cause. Its code and the code of this error have the same name.
    public var authentication: AuthenticationError? { cause as? AuthenticationError }
}

extension NetworkError {
    /// Converts any error.
    ///
    /// - Throws: `CancellationError`, if that is the error.
    package init(describing error: any Error, otherwise code: Code = .transportFailed) throws {
        switch error {
        case let error as NetworkError: self = error
        case let error as CancellationError: throw error
        case let error as AuthenticationError: self.init(error)
        case let error as HTTPTransportError: self.init(error.code, waitedFor: error.waitedFor, cause: error)
        case let error as HTTPBodyError:
            let code: Code = error.code == .alreadyRead ? .bodyNotReplayable : .encodingFailed
            self.init(code, reason: error.reason, cause: error)
        case let error as HTTPFieldError: self.init(.invalidRequest, reason: error.description, cause: error)
        case let error as DecodingError: self.init(.decodingFailed, cause: DecodingFailure(error))
        default: self.init(code, cause: error)
        }
    }

    /// Converts an error of the token provider, under the code of the same name.
    init(_ error: AuthenticationError, response: HTTPResponseHead? = nil, serverError: ServerError? = nil) {
        self.init(
            Code(rawValue: error.code.rawValue), response: response, serverError: serverError,
            retryAfter: error.retryAfter, cause: error, stepUp: error.stepUp)
    }

    /// The body of a response did not arrive.
    init(_ error: HTTPTransportError, reading head: HTTPResponseHead) {
        self.init(error.code, reason: error.reason, response: head, waitedFor: error.waitedFor, cause: error)
    }

    /// The error with the response that it is about.
    func with(_ response: HTTPResponse, readBy format: any ResponseFormat) -> NetworkError {
        var copy = self
        // A copy: a slice would keep the whole body.
        let isLong = response.body.count > Self.maximumBodyLength
        let kept = isLong ? Data(response.body.prefix(Self.maximumBodyLength)) : response.body
        copy.body = kept.isEmpty ? nil : kept
        copy.bodyLength = response.body.count
        copy.format = format
        return copy
    }

    /// A failure of another code, with the same response.
    func failure(
        _ code: Code, reason: String? = nil, cause: (any Error)?, stepUp: StepUpChallenge? = nil
    ) -> NetworkError {
        var failure = NetworkError(
            code, reason: reason, response: response, serverError: serverError, retryAfter: retryAfter, cause: cause,
            stepUp: stepUp)
        (failure.body, failure.bodyLength, failure.format) = (body, bodyLength, format)
        return failure
    }

    /// The failure of a request that was to be sent again and whose body is a one-shot sequence (G21).
    func becauseOfOneShotBody() -> NetworkError {
        let reason = "the request failed (\(code)), and its body is a one-shot sequence, which cannot be sent again"
        return failure(.bodyNotReplayable, reason: reason, cause: self)
    }
}

extension NetworkError {
    /// Decodes ``body`` as the server's own type of error, by the format of the endpoint.
    ///
    /// ```swift
    /// catch let error as NetworkError {
    ///     let problem = try? error.decode(ProblemDetails.self)
    /// }
    /// ```
    ///
    /// - Returns: The server's error. It is as the server sent it, and may quote secrets of the request.
    /// - Throws: `DecodingError` when there is no body, or it is of another form.
    public func decode<Failure: Decodable>(_ type: Failure.Type) throws -> Failure {
        let head = response ?? HTTPResponseHead(status: 0)
        return try (format ?? .json).error(type, from: HTTPResponse(head: head, body: body ?? Data()))
    }

    /// The error without secrets in what it shows. Of the response, there are the searched texts of a known format,
    /// codes and identifiers; of a body without them its media type, length and fingerprint.
    func redacted(by redaction: Redaction) -> NetworkError {
        func text(_ text: String?) -> String? { text?.redacted(by: redaction) }
        var copy = self
        copy.reason = text(reason)
        copy.response = response?.redacted(by: redaction)
        if let serverError {
            copy.serverError = serverError.redacted(by: redaction)
        } else if let body, fingerprint == nil {
            copy.fingerprint = redaction.fingerprint(
                of: body, length: bodyLength, contentType: response?.headers.values(of: "Content-Type").first)
        }
        if let cause = cause as? DecodingFailure { copy.cause = cause.redacted(by: redaction) }
        if let cause = cause as? HTTPTransportError {
            let reason = cause.reason.redacted(by: redaction)
            copy.cause = HTTPTransportError(
                cause.code, reason: reason, waitedFor: cause.waitedFor, repetition: cause.repetition)
        }
        return copy
    }
}

extension ServerError {
    /// The number of details of an error object that are kept.
    private static let maximumDetails = 32

    fileprivate func redacted(by redaction: Redaction) -> ServerError {
        func text(_ text: String?) -> String? {
            text.map { redaction.responseText($0, limit: String.maximumTextLength) }
        }
        func code(_ code: String?) -> String? { code.map(redaction.code) }
        var shown = ServerError(
            code: code(self.code),
            message: text(message),
            errors: errors.prefix(Self.maximumDetails).map { detail in
                ErrorDetail(
                    field: code(detail.field), code: code(detail.code), message: text(detail.message))
            },
            requestId: requestId.map(redaction.identifier))
        shown.otherCodes = otherCodes.prefix(Self.maximumDetails).map(redaction.code)
        return shown
    }
}

extension HTTPResponseHead {
    /// The head with what descriptions show of it: the names of fields, and the request id.
    fileprivate func redacted(by redaction: Redaction) -> HTTPResponseHead {
        guard !redaction.isOfPublicCall else { return self }
        var headers = headers
        headers.removeAll { redaction.search($0.name) != $0.name }
        if let id = headers["X-Request-ID"], case let shown = redaction.identifier(id), shown != id {
            headers["X-Request-ID"] = shown
        }
        return HTTPResponseHead(status: status, headers: headers, url: url)
    }
}
