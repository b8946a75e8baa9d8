import ConcurrencyPrimitives

public import protocol Foundation.LocalizedError

/// Why a refresh returned no tokens. The code decides whether the session continues.
public struct TokenRefreshError: Error, Sendable {
    /// What the failure means for the session.
    public typealias Code = ErrorCode<TokenRefreshError>

    /// What the failure means for the session.
    public let code: Code

    /// What happened, without a secret.
    public let reason: String?

    /// How long to wait before the next attempt, counted from the response (`Retry-After`, RFC 9110 §10.2.3).
    public let retryAfter: Duration?

    /// The HTTP status of the response. `nil` when there was none: the call may or may not have reached the server.
    public let status: Int?

    /// Whether ``status`` is one with which the server refuses what has expired: 401, or one that the handler was
    /// configured with, such as 419. The default is `true` for 401, and where there is no status.
    ///
    /// An ambiguous refusal with such a status counts as a rejection when it is repeated once, and one with another
    /// status only when it has been repeated for a longer time (G4).
    public let statusMeansExpired: Bool

    /// The server's own error code, such as `invalid_grant`.
    public let serverCode: String?

    /// The identifier of the request in the server's log.
    public let requestID: String?

    /// The challenge of the server after which the call was made once more, such as `use_dpop_nonce` (RFC 9449 §8).
    public var challenge: String?

    /// What the server demands of the user before it issues tokens again (G32). `nil`: nothing.
    public let stepUp: StepUpChallenge?

    /// The error that caused this one.
    public let cause: (any Error)?

    /// Creates an error.
    public init(
        _ code: Code,
        reason: String? = nil,
        retryAfter: Duration? = nil,
        status: Int? = nil,
        statusMeansExpired: Bool? = nil,
        serverCode: String? = nil,
        requestID: String? = nil,
        stepUp: StepUpChallenge? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.reason = reason
        self.retryAfter = retryAfter
        self.status = status
        self.statusMeansExpired = statusMeansExpired ?? (status == nil || status == 401)
        self.serverCode = serverCode
        self.requestID = requestID
        self.stepUp = stepUp
        self.cause = cause
    }

    /// The authorization server refused the refresh token.
    public static let rejected = TokenRefreshError(.rejected)

    /// A failure after which a later attempt may succeed.
    public static let unavailable = TokenRefreshError(.unavailable)

    /// The error that a ``TokenRefreshHandler`` threw if it is of this type, otherwise *unavailable* with it as the
    /// cause.
    public static func verdict(of error: any Error) -> TokenRefreshError {
        error as? TokenRefreshError ?? TokenRefreshError(.unavailable, cause: error)
    }
}

extension ErrorCode<TokenRefreshError> {
    /// The authorization server refused the refresh token itself (`invalid_grant`, RFC 6749 §5.2).
    /// It ends the session. So does `ambiguous`, where the policy of the engine says so.
    public static var rejected: Self { Self(rawValue: "rejected") }

    /// A refusal that may come from something other than the authorization server, such as a bare 401. It counts
    /// as *unavailable* the first time; the policy of the engine says what a repeated one counts as.
    public static var ambiguous: Self { Self(rawValue: "ambiguous") }

    /// The user has to act before the server issues tokens again: sign in by a stronger method, consent, set a new
    /// password (G32). It ends nothing: ``TokenRefreshError/stepUp`` says what is demanded, and a step-up repairs it.
    public static var userActionRequired: Self { Self(rawValue: "userActionRequired") }

    /// No refusal: no connection, a timeout, a server error, or a response that could not be read.
    public static var unavailable: Self { Self(rawValue: "unavailable") }
}

extension TokenRefreshError: Hashable {
    /// Compares everything but the cause.
    public static func == (first: TokenRefreshError, second: TokenRefreshError) -> Bool {
        first.code == second.code && first.reason == second.reason && first.retryAfter == second.retryAfter
            && first.status == second.status && first.statusMeansExpired == second.statusMeansExpired
            && first.serverCode == second.serverCode && first.requestID == second.requestID
            && first.challenge == second.challenge && first.stepUp == second.stepUp
    }

    /// Hashes the code, the status and the server's code.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(status)
        hasher.combine(serverCode)
    }
}

extension TokenRefreshError: RedactedDescription {
    /// One line without a secret. The cause is named by its type only: its text may contain a secret.
    public var description: String {
        var text = "token refresh \(code)"
        if let reason { text += ": \(reason)" }
        if let status { text += ", HTTP \(status)" }
        if let serverCode { text += " \(serverCode)" }
        if let challenge { text += " after \(challenge)" }
        if let stepUp { text += ", demanded: \(stepUp)" }
        if let requestID { text += ", request \(requestID)" }
        if let retryAfter { text += ", retry after \(retryAfter.inWords)" }
        if let cause { text += " (\(type(of: cause)))" }
        return text
    }
}

extension TokenRefreshError: LocalizedError {
    /// A sentence for the user of an application.
    public var errorDescription: String? { ofRequest.errorDescription }

    /// What the user can do.
    public var recoverySuggestion: String? { ofRequest.recoverySuggestion }

    /// The error of a request that needs the refresh: the user reads the same of both.
    private var ofRequest: AuthenticationError {
        switch code {
        case .rejected: AuthenticationError(.unauthorized)
        case .userActionRequired: AuthenticationError(.stepUpRequired)
        default: AuthenticationError(.refreshUnavailable, retryAfter: retryAfter)
        }
    }
}
