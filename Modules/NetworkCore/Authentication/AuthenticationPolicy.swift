/// Where tokens are put, which origins may see them, and which responses say that one is no longer valid.
public struct AuthenticationPolicy: Sendable, Hashable {
    /// The codes that say that the access token itself is invalid, unless configured otherwise: `TOKEN_EXPIRED`,
    /// `TOKEN_INVALID`, `TOKEN_REVOKED`, `EXPIRED_TOKEN`, `INVALID_TOKEN`, `ACCESS_TOKEN_EXPIRED`,
    /// `ACCESS_TOKEN_INVALID`, `SESSION_EXPIRED` and `SESSION_REVOKED`.
    public static let defaultInvalidTokenCodes: Set<String> = [
        "TOKEN_EXPIRED", "TOKEN_INVALID", "TOKEN_REVOKED", "EXPIRED_TOKEN", "INVALID_TOKEN", "ACCESS_TOKEN_EXPIRED",
        "ACCESS_TOKEN_INVALID", "SESSION_EXPIRED", "SESSION_REVOKED",
    ]

    /// Where tokens are put.
    public var placement: TokenPlacement

    /// The origins that may see tokens (G15). `nil`: the base URL's, and no other.
    public var origins: Set<Origin>?

    /// The statuses that refuse the access token: after one, the request is sent once more with another token.
    public var expiredStatuses: Set<Int>

    /// The codes of an error envelope that say, with one of ``expiredStatuses``, that the access token itself is
    /// invalid (G22). Case is ignored. A `Bearer` challenge with `error="invalid_token"` (RFC 6750 §3.1) says the same
    /// without a code.
    ///
    /// They matter to a session without a refresh token: it ends when the token is said to be invalid, and not because
    /// of a bare 401.
    public var invalidTokenCodes: Set<String>

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - placement: Where tokens are put.
    ///   - origins: The origins that may see tokens; the base URL's if left out.
    ///   - expiredStatuses: The statuses that refuse the access token.
    ///   - invalidTokenCodes: The codes that say that the access token itself is invalid.
    public init(
        placement: TokenPlacement = .bearer,
        origins: Set<Origin>? = nil,
        expiredStatuses: Set<Int> = [401],
        invalidTokenCodes: Set<String> = defaultInvalidTokenCodes
    ) {
        self.placement = placement
        self.origins = origins
        self.expiredStatuses = expiredStatuses
        self.invalidTokenCodes = invalidTokenCodes
    }
}
