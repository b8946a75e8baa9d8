import ConcurrencyPrimitives

/// Why a refresh brought no tokens: the verdict that decides whether the session goes on.
public struct TokenRefreshError: Error, Sendable {
    /// What the failure means for the session.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The code as text.
        public let rawValue: String

        /// Creates a code.
        ///
        /// - Parameter rawValue: The code as text.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The authorization server refused the refresh token itself (`invalid_grant`, RFC 6749 §5.2).
        /// The only code that ends a session.
        public static let rejected = Code(rawValue: "rejected")

        /// A refusal that may come from something other than the authorization server, such as a bare 401. It counts
        /// as *unavailable* the first time; the policy of the engine says what a repeated one counts as.
        public static let ambiguous = Code(rawValue: "ambiguous")

        /// No refusal: no connection, a time-out, a failing server, a response that could not be read.
        public static let unavailable = Code(rawValue: "unavailable")

        /// The code as text.
        public var description: String { rawValue }
    }

    /// What the failure means for the session.
    public let code: Code

    /// What happened, in words, without a secret.
    public let reason: String?

    /// How long the server asked to be left alone (`Retry-After`, RFC 9110 §10.2.3), counted from the response.
    public let retryAfter: Duration?

    /// The HTTP status of the response. `nil` when there was none: the call may or may not have reached the server.
    public let status: Int?

    /// The server's own error code, such as `invalid_grant`.
    public let serverCode: String?

    /// The identifier by which the server's log knows the request.
    public let requestID: String?

    /// The error underneath.
    public let cause: (any Error)?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: What the failure means for the session.
    ///   - reason: What happened, in words, without a secret.
    ///   - retryAfter: How long the server asked to be left alone.
    ///   - status: The HTTP status of the response; `nil` when there was none.
    ///   - serverCode: The server's own error code.
    ///   - requestID: The identifier by which the server's log knows the request.
    ///   - cause: The error underneath.
    public init(
        _ code: Code,
        reason: String? = nil,
        retryAfter: Duration? = nil,
        status: Int? = nil,
        serverCode: String? = nil,
        requestID: String? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.reason = reason
        self.retryAfter = retryAfter
        self.status = status
        self.serverCode = serverCode
        self.requestID = requestID
        self.cause = cause
    }

    /// The authorization server refused the refresh token.
    public static let rejected = TokenRefreshError(.rejected)

    /// No refusal; try again later.
    public static let unavailable = TokenRefreshError(.unavailable)

    /// Reads any error as a verdict.
    ///
    /// - Parameter error: What a ``TokenRefreshHandler`` threw.
    /// - Returns: The error itself if it is a verdict, otherwise *unavailable* with the error as its cause.
    public static func verdict(of error: any Error) -> TokenRefreshError {
        error as? TokenRefreshError ?? TokenRefreshError(.unavailable, cause: error)
    }
}

extension TokenRefreshError: Hashable {
    /// Compares everything but the cause.
    public static func == (first: TokenRefreshError, second: TokenRefreshError) -> Bool {
        first.code == second.code && first.reason == second.reason && first.retryAfter == second.retryAfter
            && first.status == second.status && first.serverCode == second.serverCode
            && first.requestID == second.requestID
    }

    /// Feeds the code, the status and the server's code.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(status)
        hasher.combine(serverCode)
    }
}

extension TokenRefreshError: RedactedDescription {
    /// One line without a secret. The cause is named by type only: its text is not ours to vouch for.
    public var description: String {
        var text = "token refresh \(code)"
        if let reason { text += ": \(reason)" }
        if let status { text += ", HTTP \(status)" }
        if let serverCode { text += " \(serverCode)" }
        if let requestID { text += ", request \(requestID)" }
        if let retryAfter { text += ", retry after \(retryAfter.inWords)" }
        if let cause { text += " (\(type(of: cause)))" }
        return text
    }
}
