import AuthInterface
import NetworkCore

/// The responses with which the server refuses the refresh token itself (G4).
///
/// The rules, in order:
///
/// | response | verdict |
/// |---|---|
/// | none, or a part of one: no connection, timeout, cut off | unavailable |
/// | a page: HTML in the body, or an HTML media type without a JSON object | unavailable |
/// | one of ``statuses``, or `"success": false`, with a code of ``refreshTokenCodes`` | rejected |
/// | 401 with a code of ``unrelatedCodes`` | unavailable |
/// | 401 whose body has ``envelopeMembers`` | rejected |
/// | any other 401: an empty one, `{"message":"Unauthorized"}` | ambiguous |
/// | every other status, with any code: 403, 404, 408, 425, 429, 5xx, … | unavailable |
/// | a success that cannot be read | unavailable |
///
/// In doubt the session stays: a request that fails can be sent again, and a user who was signed out has to sign in.
/// Codes are compared without regard to case. They are read from the members `code`, `error`, `error_code`,
/// `errorCode` and `error.code`.
public struct RESTRejection: Sendable, Hashable {
    /// The codes that refuse the refresh token or its session.
    public var refreshTokenCodes: Set<String> = [
        "REFRESH_TOKEN_INVALID", "REFRESH_TOKEN_EXPIRED", "REFRESH_TOKEN_REUSED", "REFRESH_TOKEN_REVOKED",
        "REFRESH_TOKEN_NOT_FOUND", "REFRESH_TOKEN_ALREADY_USED", "INVALID_REFRESH_TOKEN", "EXPIRED_REFRESH_TOKEN",
        "SESSION_REVOKED", "SESSION_EXPIRED", "SESSION_NOT_FOUND", "INVALID_GRANT",
    ]

    /// The statuses with which a code of ``refreshTokenCodes`` counts.
    public var statuses: Set<Int> = [400, 401, 403, 409, 410, 419, 422]

    /// The codes with which a 401 of the server's own envelope refuses something other than the refresh token, such as
    /// an API key or the version of the app.
    public var unrelatedCodes: Set<String> = [
        "API_KEY_INVALID", "API_KEY_MISSING", "API_KEY_EXPIRED", "INVALID_API_KEY", "CLIENT_INVALID", "INVALID_CLIENT",
        "UNAUTHORIZED_CLIENT", "SIGNATURE_INVALID", "APP_TOO_OLD", "UPGRADE_REQUIRED", "RATE_LIMITED",
        "TOO_MANY_REQUESTS", "MAINTENANCE", "TEMPORARILY_UNAVAILABLE", "SERVICE_UNAVAILABLE", "SERVER_ERROR",
        "INTERNAL_ERROR",
    ]

    /// The members that identify the server's own envelope. A member `success` must be `false`. If the set is empty, a
    /// 401 is a rejection only with a code of ``refreshTokenCodes``.
    ///
    /// Choose members that no gateway sends together. Common gateways send `{"message": …}`.
    public var envelopeMembers: Set<String> = ["success", "code"]

    /// Creates the documented rules. Add the codes of your server.
    public init() {}

    /// Decides what a failed refresh call means for the session.
    ///
    /// - Parameters:
    ///   - error: Why the call failed, without the call's secrets.
    ///   - body: The body of the response; `nil` where it was not kept.
    /// - Returns: The error with the verdict.
    func verdict(on error: NetworkError, body: RefusedBody?) -> TokenRefreshError {
        let body = body ?? RefusedBody(error)
        guard let status = error.statusOfWholeResponse, error.isRefusalOfTheCall, !body.isPage else {
            return TokenRefreshError(.unavailable, error)
        }
        if statuses.contains(status) || error.code == .unsuccessful,
            let code = body.codes.first(where: { $0.isOne(of: refreshTokenCodes) })
        {
            return TokenRefreshError(.rejected, error, serverCode: code)
        }
        guard status == 401 else {
            return TokenRefreshError(.unavailable, error, hint: status == 403 ? Self.unlistedCodeHint : nil)
        }
        if body.codes.contains(where: { $0.isOne(of: unrelatedCodes) }) {
            return TokenRefreshError(.unavailable, error, hint: Self.unlistedCodeHint)
        }
        if body.isEnvelope(with: envelopeMembers) { return TokenRefreshError(.rejected, error) }
        return TokenRefreshError(.ambiguous, error, hint: "it may come from a gateway")
    }

    private static let unlistedCodeHint = "no code refuses the refresh token, so the session stays"
}

extension String {
    fileprivate func isOne(of codes: Set<String>) -> Bool {
        codes.contains { $0.equalsIgnoringASCIICase(self) }
    }
}
