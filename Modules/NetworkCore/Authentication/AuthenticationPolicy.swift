/// Where tokens are placed, which origins may receive them, and which responses refuse them.
public struct AuthenticationPolicy: Sendable {
    /// The default codes that mean that the access token itself is invalid.
    public static let defaultInvalidTokenCodes: Set<String> = [
        "TOKEN_EXPIRED", "TOKEN_INVALID", "TOKEN_REVOKED", "EXPIRED_TOKEN", "INVALID_TOKEN", "ACCESS_TOKEN_EXPIRED",
        "ACCESS_TOKEN_INVALID", "SESSION_EXPIRED", "SESSION_REVOKED",
    ]

    /// The header fields in which tokens are sent.
    public var placement: TokenPlacement

    /// The origins that may receive tokens (G15). `nil`: only the origin of the base URL.
    public var origins: Set<Origin>?

    /// The statuses that refuse the access token: after one, the request is sent once more with another token.
    public var expiredStatuses: Set = [401]

    /// Which of the responses with one of ``expiredStatuses`` refuse the access token.
    public var refusals = TokenRefusalRule.anyCode

    /// The codes of an error that mean, with one of ``expiredStatuses``, that the access token itself is invalid (G22),
    /// in any case. A `Bearer` challenge with `error="invalid_token"` (RFC 6750 §3.1) means the same.
    ///
    /// They are for sessions without a refresh token, which end when the token is invalid, and not at a bare 401.
    public var invalidTokenCodes = defaultInvalidTokenCodes

    /// Creates a policy for tokens that the origin of the base URL may receive, and that a 401 refuses.
    public init(placement: TokenPlacement = .bearer) { self.placement = placement }
}

extension AuthenticationPolicy {
    /// Whether a failure refuses the access token that its request carried.
    func refuses(_ failure: NetworkError) -> Bool {
        guard let status = failure.status else { return false }
        return expiredStatuses.contains(status) ? refusals.matches(failure) : refusals.matchesUnsuccessful(failure)
    }
}
