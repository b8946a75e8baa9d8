public import AuthInterface
import NetworkCore

/// Why a sign-in at an OAuth 2.0 server, or an exchange of tokens, failed. Descriptions contain no code, token or
/// verifier (G17).
public struct OAuth2SignInError: Error, Sendable {
    /// What went wrong.
    public typealias Code = ErrorCode<OAuth2SignInError>

    /// What went wrong.
    public let code: Code

    /// What happened, for a developer, without a secret.
    public let reason: String

    /// The server's error code, such as `invalid_scope`; `nil` if there is none.
    public let serverCode: String?

    /// The error underneath: a `NetworkError`; `nil` if there is none.
    public let cause: (any Error)?

    /// Creates an error.
    public init(_ code: Code, reason: String, serverCode: String? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.reason = reason
        self.serverCode = serverCode
        self.cause = cause
    }
}

extension ErrorCode<OAuth2SignInError> {
    /// The user refused.
    public static let denied = Self(rawValue: "denied")

    /// The time for the sign-in has passed. Start it again.
    public static let expired = Self(rawValue: "expired")

    /// The server does not support the flow, or its description is invalid.
    public static let unsupported = Self(rawValue: "unsupported")

    /// The response belongs to another sign-in or another server: it can be an attack. Nothing was exchanged.
    public static let mismatch = Self(rawValue: "mismatch")

    /// The server refused the client or the request.
    public static let refused = Self(rawValue: "refused")

    /// The server's response cannot be used.
    public static let invalidResponse = Self(rawValue: "invalidResponse")

    /// The id token that came with the tokens has broken a rule: the cause is an ``IDTokenError``, which names it. No
    /// session was started.
    public static let invalidIDToken = Self(rawValue: "invalidIDToken")

    /// An endpoint of the server responded with a redirect, which is not followed (G15): a network's sign-in page is
    /// between, or the URL of the endpoint is wrong.
    public static let redirected = Self(rawValue: "redirected")

    /// The server cannot be reached.
    public static let unavailable = Self(rawValue: "unavailable")

    /// This device cannot show the sign-in page, or cannot receive its response.
    public static let userAgentFailed = Self(rawValue: "userAgentFailed")
}

extension OAuth2SignInError: CustomStringConvertible {
    /// The code and the reason.
    public var description: String { "\(code): \(reason)\(serverCode.map { " (\($0))" } ?? "")" }
}

extension OAuth2SignInError {
    /// Creates the error of a failed call, without the call's secrets. The server's code is the one in the response's
    /// error object unless another one is given.
    init(_ error: NetworkError, serverCode: String? = nil, without secrets: [String?]) {
        let error = error.withoutQuoting(secrets)
        let serverCode = serverCode ?? error.serverError?.code
        let code: Code
        switch serverCode {
        case _ where error.code == .redirectRefused: code = .redirected
        case _ where error.statusOfWholeResponse == nil: code = .unavailable
        case "access_denied", "authorization_declined": code = .denied
        case "expired_token": code = .expired
        case _ where (error.status ?? 0) >= 500 || error.status == 429: code = .unavailable
        case _ where error.code == .decodingFailed: code = .invalidResponse
        default: code = .refused
        }
        let shown = serverCode?.asIdentifier(withoutQuoting: secrets)
        self.init(code, reason: error.description, serverCode: shown, cause: error)
    }

    /// Creates the error of an id token that was refused, with what has become of the tokens beside it.
    init(_ error: IDTokenError, tokens fate: String) {
        let code: Code = error.code == .keysUnavailable ? .unavailable : .invalidIDToken
        self.init(code, reason: "the id token: \(error); the tokens beside it \(fate)", cause: error)
    }
}
