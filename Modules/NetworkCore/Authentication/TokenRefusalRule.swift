/// Which responses with a status of ``AuthenticationPolicy/expiredStatuses`` refuse the access token.
///
/// After a response that does not, no token is refreshed and the call fails with code `unacceptableStatus`: a 401 can
/// also mean a wrong password, or that the user may not do this.
public struct TokenRefusalRule: Sendable {
    private let isRefusal: @Sendable (HTTPResponseHead, ServerError?) -> Bool

    /// The codes that refuse the access token itself.
    private(set) var invalidTokenCodes: Set<String> = []

    /// Every response, unless its `Bearer` challenges name only errors that a new token does not remove:
    /// `insufficient_scope` or `invalid_request` (RFC 6750 §3.1).
    public static let anyCode = TokenRefusalRule { head, _ in !head.saysBearerTokenIsNotTheReason }

    /// As ``anyCode``, without responses whose error has one of these codes, such as `WRONG_PASSWORD`. Case is ignored.
    public static func exceptCodes(_ codes: Set<String>) -> TokenRefusalRule {
        TokenRefusalRule { head, error in
            error?.hasCode(of: codes) == true ? false : anyCode.isRefusal(head, error)
        }
    }

    /// Responses whose error has one of these codes, or with a `Bearer` challenge of `invalid_token` (RFC 6750 §3.1).
    ///
    /// The codes count as ``AuthenticationPolicy/invalidTokenCodes`` too, and in a response with a successful status
    /// that says that the call failed. Case is ignored.
    public static func codes(_ codes: Set<String> = AuthenticationPolicy.defaultInvalidTokenCodes) -> TokenRefusalRule {
        let isRefusal = { @Sendable (head: HTTPResponseHead, error: ServerError?) in
            error?.hasCode(of: codes) == true || head.saysBearerTokenIsInvalid
        }
        return TokenRefusalRule(isRefusal: isRefusal, invalidTokenCodes: codes)
    }

    /// Responses for which a predicate holds.
    ///
    /// It is called with the head of the response and the error in its body, if any, on any thread, and must not block.
    public static func when(
        _ isRefusal: @escaping @Sendable (HTTPResponseHead, ServerError?) -> Bool
    ) -> TokenRefusalRule {
        TokenRefusalRule(isRefusal: isRefusal)
    }

    /// Whether a response with a successful status refuses the token: one of the listed codes says so.
    func matchesUnsuccessful(_ failure: NetworkError) -> Bool {
        failure.code == .unsuccessful && failure.serverError?.hasCode(of: invalidTokenCodes) == true
    }

    func matches(_ failure: NetworkError) -> Bool {
        failure.response.map { isRefusal($0, failure.serverError) } ?? false
    }
}
