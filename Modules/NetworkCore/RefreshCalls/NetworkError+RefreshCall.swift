public import AuthInterface

extension NetworkError {
    /// The status of a response that arrived whole and can be read; `nil`: it did not, and its tokens are lost.
    package var statusOfWholeResponse: Int? {
        let isPart = [.connectionFailed, .timedOut, .transportFailed, .tlsFailed, .proxyRefused].contains(code)
        return isPart || code == .invalidResponse || lacksBody ? nil : status
    }

    /// Whether the server refused this call.
    package var isRefusalOfTheCall: Bool { code == .unacceptableStatus || code == .unsuccessful }

    /// Whether the server has said when to call again, also in a form that is no date and no number.
    package var asksToWait: Bool { retryAfter != nil || response?.headers["Retry-After"] != nil }

    /// The error without secrets of the call, which servers quote: "no such token: …" (G17). `nil` stands for none.
    public func withoutQuoting(_ secrets: [String?]) -> NetworkError { redacted(by: Redaction(secrets: secrets)) }
}

extension TokenRefreshError {
    /// Creates the error of a failed refresh call, with the status, the pause and the request id of the response.
    ///
    /// - Parameters:
    ///   - code: What the failure means for the session.
    ///   - error: Why the call failed. Remove the call's secrets first with ``NetworkError/withoutQuoting(_:)``.
    ///   - statusMeansExpired: Whether the server refuses what has expired with this status. `nil` stands for 401, and
    ///     for no status.
    ///   - serverCode: The server's error code; `nil` takes the one in the response's error object.
    ///   - stepUp: What the server demands of the user (G32).
    ///   - hint: What the developer can do about the failure.
    public init(
        _ code: Code,
        _ error: NetworkError,
        statusMeansExpired: Bool? = nil,
        serverCode: String? = nil,
        stepUp: StepUpChallenge? = nil,
        hint: String? = nil
    ) {
        self.init(
            code,
            reason: hint.map { "\(error.description); \($0)" } ?? error.description,
            retryAfter: error.retryAfter,
            status: error.statusOfWholeResponse,
            statusMeansExpired: statusMeansExpired,
            serverCode: (serverCode ?? error.serverError?.code)?.asIdentifier(withoutQuoting: []),
            requestID: error.requestID?.asIdentifier(withoutQuoting: []),
            stepUp: stepUp,
            cause: error
        )
    }
}

extension TokenRefreshResult {
    /// The result, if it holds a token that can be used.
    ///
    /// A new refresh token beside an empty access token is one: the server has spent the old refresh token.
    ///
    /// - Throws: `TokenRefreshError` with code `unavailable` when there is neither an access nor a new refresh token.
    package func usable(after request: TokenRefreshRequest, status: Int?) throws(TokenRefreshError)
        -> TokenRefreshResult
    {
        let isRotated = refreshToken.map { !$0.isEmpty && $0 != request.refreshToken } ?? false
        guard !accessToken.isEmpty || isRotated else {
            throw TokenRefreshError(.unavailable, reason: "the response has no access token", status: status)
        }
        return self
    }
}
