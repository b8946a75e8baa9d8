/// Why a refresh brought no tokens: the verdict that decides whether the session lives.
public struct TokenRefreshError: Error, Sendable {
    /// Who said no.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The code as text.
        public let rawValue: String

        /// Creates a code.
        ///
        /// - Parameter rawValue: The code as text.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The authorisation server refused the refresh token itself (`invalid_grant`, RFC 6749 §5.2).
        /// The only code that ends a session.
        public static let rejected = Code(rawValue: "rejected")

        /// Nobody said no: no connection, a time-out, a server in trouble, an answer that could not be read.
        public static let unavailable = Code(rawValue: "unavailable")

        /// The code as text.
        public var description: String { rawValue }
    }

    /// Who said no.
    public let code: Code

    /// What happened, in words, without a secret.
    public let reason: String?

    /// How long the server asked to be left alone (`Retry-After`, RFC 9110 §10.2.3), counted from the answer.
    public let retryAfter: Duration?

    /// The error underneath.
    public let cause: (any Error)?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: Who said no.
    ///   - reason: What happened, in words, without a secret.
    ///   - retryAfter: How long the server asked to be left alone.
    ///   - cause: The error underneath.
    public init(_ code: Code, reason: String? = nil, retryAfter: Duration? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.reason = reason
        self.retryAfter = retryAfter
        self.cause = cause
    }

    /// The authorisation server refused the refresh token.
    public static let rejected = TokenRefreshError(.rejected)

    /// Nobody said no; try again later.
    public static let unavailable = TokenRefreshError(.unavailable)

    /// Reads any error as a verdict.
    ///
    /// - Parameter error: What a ``TokenRefreshHandler`` threw.
    /// - Returns: The error itself if it is a verdict, otherwise *unavailable* with the error as its cause.
    public static func verdict(of error: any Error) -> TokenRefreshError {
        error as? TokenRefreshError ?? TokenRefreshError(.unavailable, cause: error)
    }
}

extension TokenRefreshError: SecretBearing {
    /// One line without a secret. The cause is named by type only: its text is not ours to vouch for.
    public var description: String {
        var text = "token refresh \(code)"
        if let reason { text += ": \(reason)" }
        if let retryAfter { text += ", retry after \(retryAfter.inWords)" }
        if let cause { text += " (\(type(of: cause)))" }
        return text
    }
}
