public import AuthInterface

/// Which rule an id token has broken (OpenID Connect Core §3.1.3.7). Descriptions contain no claim of a user.
public struct IDTokenError: Error, Sendable {
    /// The rule.
    public typealias Code = ErrorCode<IDTokenError>

    /// The rule.
    public let code: Code

    /// What happened, for a developer.
    public let reason: String

    /// The error underneath: a `NetworkError`; `nil` if there is none.
    public let cause: (any Error)?

    /// Creates an error.
    public init(_ code: Code, reason: String, cause: (any Error)? = nil) {
        self.code = code
        self.reason = reason
        self.cause = cause
    }
}

extension ErrorCode<IDTokenError> {
    /// There is no id token, although the scope has `openid`.
    public static let missing = Self(rawValue: "missing")

    /// It is no JSON Web Token, is longer than 64 KiB, or lacks a claim.
    public static let malformed = Self(rawValue: "malformed")

    /// It is signed by an algorithm that is not supported, such as one with a shared secret, or not at all (`none`).
    public static let unsupportedAlgorithm = Self(rawValue: "unsupportedAlgorithm")

    /// The server publishes no key by which it may be signed.
    public static let unknownKey = Self(rawValue: "unknownKey")

    /// It is not signed by the server's key.
    public static let invalidSignature = Self(rawValue: "invalidSignature")

    /// Another server has issued it.
    public static let wrongIssuer = Self(rawValue: "wrongIssuer")

    /// It is for another client.
    public static let wrongAudience = Self(rawValue: "wrongAudience")

    /// It was issued to another client (`azp`), or names several and not which of them it was issued to.
    public static let wrongAuthorizedParty = Self(rawValue: "wrongAuthorizedParty")

    /// It has expired, or does not say when it does.
    public static let expired = Self(rawValue: "expired")

    /// It says that it was issued in the future (`iat`) or is not valid yet (`nbf`), or does not say when it was
    /// issued.
    public static let issuedInFuture = Self(rawValue: "issuedInFuture")

    /// It belongs to another sign-in.
    public static let wrongNonce = Self(rawValue: "wrongNonce")

    /// It was issued beside another access token (`at_hash`).
    public static let wrongAccessToken = Self(rawValue: "wrongAccessToken")

    /// The keys of the server cannot be read now. The token may be valid.
    public static let keysUnavailable = Self(rawValue: "keysUnavailable")
}

extension IDTokenError: CustomStringConvertible {
    /// The rule and the reason.
    public var description: String { "\(code): \(reason)" }
}
