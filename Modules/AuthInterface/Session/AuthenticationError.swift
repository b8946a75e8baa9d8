import ConcurrencyPrimitives

/// Why a request could not be given a token, or a session not begun or ended as asked.
public struct AuthenticationError: Error, Sendable {
    /// What went wrong.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The code as text.
        public let rawValue: String

        /// Creates a code.
        ///
        /// - Parameter rawValue: The code as text.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Nobody is signed in.
        public static let notSignedIn = Code(rawValue: "notSignedIn")

        /// The session the request began with is over. It is not sent again as somebody else.
        public static let sessionEnded = Code(rawValue: "sessionEnded")

        /// The server refuses even a token that was just issued. Refreshing again would not help.
        public static let unauthorized = Code(rawValue: "unauthorized")

        /// The access token is no longer good and there is no refresh token to buy another with.
        public static let noRefreshToken = Code(rawValue: "noRefreshToken")

        /// A refresh was needed and could not be had now. The session stays.
        public static let refreshUnavailable = Code(rawValue: "refreshUnavailable")

        /// The store cannot answer now (locked, absent, unreadable). The session stays.
        public static let storeUnavailable = Code(rawValue: "storeUnavailable")

        /// The refresh handler asked the session that it refreshes for a token: it would wait for itself (G20).
        public static let insideRefresh = Code(rawValue: "insideRefresh")

        /// A login returned tokens that no request can carry.
        public static let invalidTokens = Code(rawValue: "invalidTokens")

        /// The code as text.
        public var description: String { rawValue }
    }

    /// What went wrong.
    public let code: Code

    /// How long to wait before another try can succeed, where that is known.
    public let retryAfter: Duration?

    /// The error underneath: a ``TokenRefreshError`` or ``TokenStoreError`` in most cases.
    public let cause: (any Error)?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: What went wrong.
    ///   - retryAfter: How long to wait before another try can succeed.
    ///   - cause: The error underneath.
    public init(_ code: Code, retryAfter: Duration? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.retryAfter = retryAfter
        self.cause = cause
    }
}

extension AuthenticationError: RedactedDescription {
    /// One line that says what to do, without a secret.
    public var description: String {
        let pause = retryAfter.map { " (retry after \($0.inWords))" } ?? ""
        return "\(code): \(advice)\(pause)\(causeInBrackets)"
    }

    /// The description without the code and the pause, for an error that shows both itself.
    package var explanation: String { advice + causeInBrackets }

    private var causeInBrackets: String {
        switch cause {
        case let cause as TokenRefreshError: " [\(cause)]"
        case let cause as TokenStoreError: " [\(cause)]"
        case let cause?: " [\(type(of: cause))]"
        case nil: ""
        }
    }

    private var advice: String {
        switch code {
        case .notSignedIn: "sign in first"
        case .sessionEnded: "the session this request began with is over; sign in and start it anew"
        case .unauthorized: "the server refuses a token it has just issued; check its clock and what the token may do"
        case .noRefreshToken: "the access token is no longer good and there is no refresh token; sign in again"
        case .refreshUnavailable: "the token could not be refreshed now; the session stays, try again later"
        case .storeUnavailable: "the token store cannot answer now; nothing was lost, try again later"
        case .insideRefresh:
            "the refresh handler must not use the session it refreshes; give it a service without tokens"
        case .invalidTokens: "the access token is empty or has characters no header field can carry"
        default: "see the documentation of the code"
        }
    }
}
