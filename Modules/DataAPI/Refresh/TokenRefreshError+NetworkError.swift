import AuthInterface
import NetworkCore

extension TokenRefreshError {
    /// A verdict on a failed refresh call.
    ///
    /// - Parameters:
    ///   - code: What the failure means for the session.
    ///   - error: Why the call failed. Its description holds no secret.
    ///   - serverCode: The server's own code; the envelope's if left out.
    ///   - hint: What to do about it, where that is known.
    init(_ code: Code, _ error: NetworkError, serverCode: String? = nil, hint: String? = nil) {
        self.init(
            code,
            reason: hint.map { "\(error.description); \($0)" } ?? error.description,
            retryAfter: error.retryAfter,
            status: error.statusOfWholeResponse,
            serverCode: (serverCode ?? error.envelope?.code)?.asIdentifier(withoutQuoting: []),
            requestID: error.requestID?.asIdentifier(withoutQuoting: []),
            cause: error
        )
    }
}

extension NetworkError {
    /// The most details of an error object that are kept.
    private static let mostDetails = 32

    /// The status of the response. `nil` when none arrived, or only a part of one: the tokens in it are lost then, as
    /// with a connection that failed before.
    var statusOfWholeResponse: Int? {
        [.connectionFailed, .timedOut, .transportFailed, .tlsFailed].contains(code) ? nil : status
    }

    /// Whether the error is a response of the server that was called: not a success, and not the response to the `GET`
    /// into which a redirect may turn a `POST`.
    var isRefusalOfTheCall: Bool {
        guard code == .unacceptableStatus || code == .unsuccessful else { return false }
        return request.map { $0.method == .post } ?? true
    }

    /// The error without the secrets of the call, should the server have quoted them: "no such token: …" (G17).
    ///
    /// - Parameter secrets: The secrets. `nil` and empty ones are skipped.
    /// - Returns: The error, with a placeholder in place of each.
    func withoutQuoting(_ secrets: [String?]) -> NetworkError {
        func clean(_ text: String?) -> String? { text?.withoutQuoting(secrets) }
        return NetworkError(
            code,
            reason: clean(reason),
            request: request,
            response: response.map { $0.withRequestID(clean) },
            envelope: envelope.map { envelope in
                ErrorEnvelope(
                    code: clean(envelope.code),
                    message: clean(envelope.message),
                    errors: envelope.errors.prefix(Self.mostDetails).map { detail in
                        ErrorDetail(
                            field: clean(detail.field), code: clean(detail.code), message: clean(detail.message))
                    },
                    requestId: clean(envelope.requestId)
                )
            },
            retryAfter: retryAfter,
            attempt: attempt,
            elapsed: elapsed,
            cause: cause
        )
    }
}

extension HTTPResponseHead {
    /// The head with another name for the request; it is the one field that descriptions show.
    fileprivate func withRequestID(_ change: (String?) -> String?) -> HTTPResponseHead {
        var headers = headers
        headers["X-Request-ID"] = change(headers["X-Request-ID"])
        return HTTPResponseHead(status: status, headers: headers, url: url)
    }
}

extension TokenRefreshResult {
    /// The result, unless there is nothing in it to go on with.
    ///
    /// A new refresh token is returned even beside an empty access token: the server has spent the old one.
    ///
    /// - Parameters:
    ///   - request: The request that the result responds to.
    ///   - status: The status of the response.
    /// - Returns: The result.
    /// - Throws: ``TokenRefreshError`` with code `unavailable` when there is neither an access token nor a new refresh
    ///   token.
    func usable(after request: TokenRefreshRequest, status: Int?) throws(TokenRefreshError) -> TokenRefreshResult {
        let isRotated = refreshToken.map { !$0.isEmpty && $0 != request.refreshToken } ?? false
        guard !accessToken.isEmpty || isRotated else {
            throw TokenRefreshError(.unavailable, reason: "the response has no access token", status: status)
        }
        return self
    }
}

extension String {
    /// Whether a header field can carry the text as a value without spaces.
    var fitsHeaderField: Bool { !isEmpty && utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}
