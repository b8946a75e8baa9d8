public import AuthInterface

extension TokenRefreshError {
    /// Creates the error of a failed refresh call, with the status, the pause and the request id of the response.
    ///
    /// - Parameters:
    ///   - code: What the failure means for the session.
    ///   - error: Why the call failed. Remove the call's secrets first with ``NetworkError/withoutQuoting(_:)``.
    ///   - serverCode: The server's error code; `nil` takes the one in the response's error object.
    ///   - hint: What the developer can do about the failure.
    public init(_ code: Code, _ error: NetworkError, serverCode: String? = nil, hint: String? = nil) {
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
