import ConcurrencyPrimitives

public import protocol Foundation.LocalizedError

/// Why no token is available for a request, or why a session could not be started or ended.
public struct AuthenticationError: Error, Sendable {
    /// What went wrong.
    public typealias Code = ErrorCode<AuthenticationError>

    /// What went wrong.
    public let code: Code

    /// How long to wait before another attempt can succeed. `nil`: not known.
    public let retryAfter: Duration?

    /// The error that caused this one, in most cases a ``TokenRefreshError`` or ``TokenStoreError``.
    public let cause: (any Error)?

    /// Creates an error.
    public init(_ code: Code, retryAfter: Duration? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.retryAfter = retryAfter
        self.cause = cause
    }

    /// What the server demands of the user before it issues tokens again (G32). `nil`: nothing.
    public var stepUp: StepUpChallenge? { (cause as? TokenRefreshError)?.stepUp }
}

extension ErrorCode<AuthenticationError> {
    /// No user is signed in.
    public static var notSignedIn: Self { Self(rawValue: "notSignedIn") }

    /// The request's session has ended. The request is not sent again with another session's token.
    public static var sessionEnded: Self { Self(rawValue: "sessionEnded") }

    /// The server refused a token that it had just issued. Another refresh would not help.
    public static var unauthorized: Self { Self(rawValue: "unauthorized") }

    /// The access token is no longer valid, and the session has no refresh token.
    public static var noRefreshToken: Self { Self(rawValue: "noRefreshToken") }

    /// A refresh was needed, and the server issues no tokens until the user has acted (G32). The session is kept, and a
    /// step-up repairs it: ``AuthenticationError/stepUp`` says what the server demands.
    public static var stepUpRequired: Self { Self(rawValue: "stepUpRequired") }

    /// A refresh was needed and is not possible now. The session is kept.
    public static var refreshUnavailable: Self { Self(rawValue: "refreshUnavailable") }

    /// The store cannot be read or written now (locked, absent, unreadable). The session is kept.
    public static var storeUnavailable: Self { Self(rawValue: "storeUnavailable") }

    /// A sign-out could be stored neither in the store nor in the journal. The session has ended in this process, and
    /// does not stay ended: the next start finds its tokens in the store (G30).
    public static var signOutNotStored: Self { Self(rawValue: "signOutNotStored") }

    /// The refresh handler asked the session that it refreshes for a token: it would wait for itself (G20).
    public static var insideRefresh: Self { Self(rawValue: "insideRefresh") }

    /// A request is to carry the refresh token in a field, and its token comes from a follower, which has none (G29).
    public static var followerHasNoRefreshToken: Self { Self(rawValue: "followerHasNoRefreshToken") }

    /// The session's tokens are bound to a key (G34), and the request would carry one without a proof: the client has
    /// no placement that makes one, or is where the key may not be used, as a follower on another device.
    public static var proofRequired: Self { Self(rawValue: "proofRequired") }

    /// A login returned tokens that no request can carry, or a step-up no refresh token.
    public static var invalidTokens: Self { Self(rawValue: "invalidTokens") }
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
        case .sessionEnded: "the session of this request has ended; sign in and send a new request"
        case .unauthorized:
            "the server refuses a token that it has just issued; check its clock and the token's permissions"
        case .noRefreshToken: "the access token is no longer valid, and the session has no refresh token; sign in again"
        case .stepUpRequired:
            "the server renews the session only after the user has acted; sign in again by a step-up, and it goes on"
        case .refreshUnavailable: "the token could not be refreshed, and the session is kept; try again later"
        case .storeUnavailable:
            "the token store is unavailable and unchanged (after a sign-out, the tokens are still in it); try again later"
        case .signOutNotStored:
            "neither the token store nor the journal can be written: the sign-out ends with this process; try again"
        case .insideRefresh:
            "the refresh handler must not use the session it refreshes; give it a service without tokens"
        case .proofRequired:
            "the session's tokens are bound to a key: place them with .dpop, where the key may be used"
        case .followerHasNoRefreshToken:
            "a follower has no refresh token to place in a field; let the owner of the session send the request"
        case .invalidTokens:
            "the access token is empty or has characters that no header field can carry, or a step-up brought no "
                + "refresh token; ask for one in its sign-in, such as by the scope offline_access"
        default: "see the documentation of this code"
        }
    }
}

extension AuthenticationError: LocalizedError {
    /// A sentence for the user of an application.
    public var errorDescription: String? {
        switch code {
        case .notSignedIn: "You are not signed in."
        case .sessionEnded: "The session has ended."
        case .unauthorized, .noRefreshToken: "The server does not accept the sign-in any more."
        case .stepUpRequired: "The server asks for another sign-in."
        case .refreshUnavailable: "The sign-in could not be renewed."
        case .storeUnavailable: "The stored sign-in cannot be read."
        case .signOutNotStored: "You may be signed in again when the app starts again."
        default: "The sign-in failed."
        }
    }

    /// What the user can do.
    public var recoverySuggestion: String? {
        if code == .stepUpRequired { return "Sign in again." }
        if let retryAfter, retryAfter > .zero { return "Try again in \(retryAfter.inWords)." }
        let isTemporary = [.refreshUnavailable, .storeUnavailable, .signOutNotStored].contains(code)
        return isTemporary ? "Try again later." : "Sign in again."
    }
}
