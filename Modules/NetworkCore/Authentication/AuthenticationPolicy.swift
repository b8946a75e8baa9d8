import AuthInterface

/// Where tokens are placed, which origins may receive them, and which responses refuse them.
public struct AuthenticationPolicy: Sendable {
    /// The default codes that mean that the access token itself is invalid: `TOKEN_EXPIRED`,
    /// `TOKEN_INVALID`, `TOKEN_REVOKED`, `EXPIRED_TOKEN`, `INVALID_TOKEN`, `ACCESS_TOKEN_EXPIRED`,
    /// `ACCESS_TOKEN_INVALID`, `SESSION_EXPIRED` and `SESSION_REVOKED`.
    public static let defaultInvalidTokenCodes: Set<String> = [
        "TOKEN_EXPIRED", "TOKEN_INVALID", "TOKEN_REVOKED", "EXPIRED_TOKEN", "INVALID_TOKEN", "ACCESS_TOKEN_EXPIRED",
        "ACCESS_TOKEN_INVALID", "SESSION_EXPIRED", "SESSION_REVOKED",
    ]

    /// The header fields in which tokens are sent.
    public var placement: TokenPlacement

    /// The origins that may receive tokens (G15). `nil`: only the origin of the base URL.
    public var origins: Set<Origin>?

    /// The statuses that refuse the access token: after one, the request is sent once more with another token.
    public var expiredStatuses: Set<Int>

    /// Which of the responses with one of ``expiredStatuses`` refuse the access token.
    public var refusals: TokenRefusalRule

    /// The codes of an error envelope that mean, with one of ``expiredStatuses``, that the access token itself is
    /// invalid (G22). Case is ignored. A `Bearer` challenge with `error="invalid_token"` (RFC 6750 §3.1) has the same
    /// meaning without a code.
    ///
    /// They are for sessions without a refresh token: such a session ends when its token is invalid, and not because of
    /// a bare 401.
    public var invalidTokenCodes: Set<String>

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - placement: The header fields in which tokens are sent.
    ///   - origins: The origins that may receive tokens. `nil`: only the origin of the base URL.
    ///   - expiredStatuses: The statuses that refuse the access token.
    ///   - refusals: Which of the responses with one of these statuses refuse the access token.
    ///   - invalidTokenCodes: The codes that mean that the access token itself is invalid.
    public init(
        placement: TokenPlacement = .bearer,
        origins: Set<Origin>? = nil,
        expiredStatuses: Set<Int> = [401],
        refusals: TokenRefusalRule = .anyCode,
        invalidTokenCodes: Set<String> = defaultInvalidTokenCodes
    ) {
        self.placement = placement
        self.origins = origins
        self.expiredStatuses = expiredStatuses
        self.refusals = refusals
        self.invalidTokenCodes = invalidTokenCodes
    }
}

/// Which responses with a status of ``AuthenticationPolicy/expiredStatuses`` refuse the access token.
///
/// After a response that does not, no token is refreshed and the call fails with code `unacceptableStatus`: a 401 can
/// also mean a wrong password, or that the user may not do this.
public struct TokenRefusalRule: Sendable {
    private let isRefusal: @Sendable (HTTPResponseHead, ErrorEnvelope?) -> Bool

    /// The codes that refuse the access token itself.
    let invalidTokenCodes: Set<String>

    private init(
        invalidTokenCodes: Set<String> = [],
        _ isRefusal: @escaping @Sendable (HTTPResponseHead, ErrorEnvelope?) -> Bool
    ) {
        self.invalidTokenCodes = invalidTokenCodes
        self.isRefusal = isRefusal
    }

    /// Every response, unless its `Bearer` challenges name only errors that a new token does not remove:
    /// `insufficient_scope` or `invalid_request` (RFC 6750 §3.1).
    public static let anyCode = TokenRefusalRule { head, _ in !head.saysBearerTokenIsNotTheReason }

    /// As ``anyCode``, without responses whose error has one of these codes.
    ///
    /// - Parameter codes: The codes, such as `WRONG_PASSWORD`. Case is ignored.
    /// - Returns: The rule.
    public static func exceptCodes(_ codes: Set<String>) -> TokenRefusalRule {
        TokenRefusalRule { head, envelope in
            guard let code = envelope?.code, codes.contains(where: { $0.equalsIgnoringASCIICase(code) }) else {
                return anyCode.isRefusal(head, envelope)
            }
            return false
        }
    }

    /// Only responses whose error has one of these codes, or with a `Bearer` challenge whose error is `invalid_token`
    /// (RFC 6750 §3.1).
    ///
    /// The codes count as ``AuthenticationPolicy/invalidTokenCodes`` too.
    ///
    /// - Parameter codes: The codes. Case is ignored.
    /// - Returns: The rule.
    public static func codes(
        _ codes: Set<String> = AuthenticationPolicy.defaultInvalidTokenCodes
    ) -> TokenRefusalRule {
        TokenRefusalRule(invalidTokenCodes: codes) { head, envelope in
            let isListed = envelope?.code.map { code in codes.contains { $0.equalsIgnoringASCIICase(code) } }
            return isListed == true || head.saysBearerTokenIsInvalid
        }
    }

    /// Responses for which a predicate holds.
    ///
    /// - Parameter isRefusal: Is called with the head of the response, and the error in its body; `nil` if there is
    ///   none. It is called on any thread, and must not block.
    /// - Returns: The rule.
    public static func when(
        _ isRefusal: @escaping @Sendable (HTTPResponseHead, ErrorEnvelope?) -> Bool
    ) -> TokenRefusalRule {
        TokenRefusalRule(isRefusal)
    }

    func matches(_ failure: NetworkError) -> Bool {
        failure.response.map { isRefusal($0, failure.envelope) } ?? false
    }
}

/// The header fields in which a token is sent.
public struct TokenPlacement: Sendable, Hashable {
    private enum Kind: Hashable {
        case authorization(scheme: String)
        case fields(accessToken: String, refreshToken: String?)
    }

    private let kind: Kind

    /// `Authorization: Bearer …` (RFC 6750 §2.1).
    public static let bearer = TokenPlacement(kind: .authorization(scheme: "Bearer"))

    /// `Authorization` with a scheme that the server defines, such as `Token`.
    ///
    /// - Parameter name: The name of the scheme.
    /// - Returns: The placement.
    public static func scheme(_ name: String) -> TokenPlacement {
        TokenPlacement(kind: .authorization(scheme: name))
    }

    /// Fields that the server defines.
    ///
    /// - Parameters:
    ///   - accessToken: The name of the field for the access token.
    ///   - refreshToken: The name of the field for the refresh token, for a server that needs both in every request.
    /// - Returns: The placement.
    public static func fields(
        accessToken: String = "accessToken",
        refreshToken: String? = nil
    ) -> TokenPlacement {
        TokenPlacement(kind: .fields(accessToken: accessToken, refreshToken: refreshToken))
    }

    /// Adds a token to a request.
    ///
    /// - Throws: ``NetworkError`` with code `invalidRequest` when no header field can carry it.
    func place(_ token: SessionToken, in request: HTTPRequestHead) throws -> HTTPRequestHead {
        do {
            return try placed(token, in: request)
        } catch {
            throw NetworkError(error)
        }
    }

    private func placed(
        _ token: SessionToken,
        in request: HTTPRequestHead
    ) throws(HTTPFieldError) -> HTTPRequestHead {
        var request = request
        switch kind {
        case .authorization(let scheme):
            try request.set("Authorization", to: "\(scheme) \(token.value)")
        case .fields(let accessToken, let refreshToken):
            try request.set(accessToken, to: token.value)
            if let refreshToken { try request.set(refreshToken, to: token.refreshToken) }
        }
        return request
    }
}
