import AuthInterface
public import NetworkCore

/// The responses with which the server refuses the refresh token itself (G4).
///
/// The rules, in order:
///
/// | response | verdict |
/// |---|---|
/// | none, or a part of one: no connection, timeout, cut off | unavailable |
/// | a page: HTML in the body, or an HTML media type without a JSON object | unavailable |
/// | what a rule of ``rules`` says, as `RefreshRefusalRule` orders them | its verdict |
/// | a demand that the user acts: `invalid_grant` with `claims` or a `suberror`, `interaction_required`, … | user action required |
/// | a code of ``unrelatedCodes``, or of a wrong client (`invalid_client`) | unavailable |
/// | a code of ``refreshTokenCodes``, with one of ``statuses`` | rejected |
/// | `Retry-After`, or a token that was not sent | unavailable |
/// | one of ``rejectedStatuses``, whatever the body | rejected |
/// | an envelope, with one of ``rejectedEnvelopeStatuses`` | rejected |
/// | an envelope, with one of ``ambiguousEnvelopeStatuses`` | ambiguous |
/// | one of ``expiredStatuses``, whatever the body: an empty 401, `{"message":"Unauthorized"}` | ambiguous |
/// | every other status, with any code: 403 without an envelope, 404, 408, 425, 429, 5xx, … | unavailable |
/// | a success that cannot be read | unavailable |
///
/// In all sets, 200 stands for an envelope with `"success": false` and a successful status. Another response is an
/// envelope if it has the ``envelopeMembers``. Codes are compared without regard to case. They are read from the
/// members `error_code`, `errorCode`, `code`, `error`, `error.code`, `__type`, `errcode`, those of `errors`, and the
/// field `x-amzn-ErrorType`.
///
/// *Ambiguous* is unavailable the first time. The engine counts it as rejected when it is repeated: after one pause
/// with one of ``expiredStatuses``, after a longer time with another status. So a server with codes of its own ends its
/// sessions, and a gateway in front of it does not. In doubt the session stays: a request that fails can be sent again,
/// and a user who was signed out has to sign in.
///
/// | server | rules |
/// |---|---|
/// | `{"success":false,"code":…}` with 401 for every refusal of the refresh token | `RESTRejection()` |
/// | such an envelope, with any status, as every refusal: 419, 400, 200 | ``anyEnvelopeError`` |
/// | an envelope with codes of its own | ``codes(_:)`` |
/// | a status that says it all, such as an empty 419 | ``statuses(_:)`` |
/// | error objects without an envelope, `{"error":"…"}` | ``errorObjects`` |
public struct RESTRejection: Sendable, Hashable {
    /// The codes that refuse the refresh token or its session.
    public var refreshTokenCodes: Set<String> = [
        "REFRESH_TOKEN_INVALID", "REFRESH_TOKEN_EXPIRED", "REFRESH_TOKEN_REUSED", "REFRESH_TOKEN_REVOKED",
        "REFRESH_TOKEN_NOT_FOUND", "REFRESH_TOKEN_ALREADY_USED", "INVALID_REFRESH_TOKEN", "EXPIRED_REFRESH_TOKEN",
        "SESSION_REVOKED", "SESSION_EXPIRED", "SESSION_NOT_FOUND", "INVALID_GRANT",
    ]

    /// The statuses with which a code of ``refreshTokenCodes`` counts.
    public var statuses: Set<Int> = [200, 400, 401, 403, 409, 410, 419, 422]

    /// The codes with which the server refuses something other than the refresh token, such as an API key, the version
    /// of the app or the moment. A code that is in ``refreshTokenCodes`` too refuses the refresh token: the rule
    /// `.neverEnds` wins over the sets.
    public var unrelatedCodes: Set<String> = [
        "API_KEY_INVALID", "API_KEY_MISSING", "API_KEY_EXPIRED", "INVALID_API_KEY", "CLIENT_INVALID", "INVALID_CLIENT",
        "UNAUTHORIZED_CLIENT", "SIGNATURE_INVALID", "INVALID_SIGNATURE",
        "APP_TOO_OLD", "APP_VERSION_TOO_OLD", "APP_VERSION_UNSUPPORTED", "UNSUPPORTED_APP_VERSION",
        "UNSUPPORTED_VERSION", "VERSION_NOT_SUPPORTED", "UPGRADE_REQUIRED", "UPDATE_REQUIRED", "FORCE_UPDATE",
        "APP_UPDATE_REQUIRED",
        "RATE_LIMITED", "RATE_LIMIT", "RATE_LIMIT_EXCEEDED", "TOO_MANY_REQUESTS", "THROTTLED", "QUOTA_EXCEEDED",
        "MAINTENANCE", "MAINTENANCE_MODE", "UNDER_MAINTENANCE", "SYSTEM_MAINTENANCE", "SERVER_MAINTENANCE",
        "TEMPORARILY_UNAVAILABLE", "SERVICE_UNAVAILABLE", "SERVER_BUSY", "TIMEOUT", "REQUEST_TIMEOUT", "TRY_AGAIN",
        "TRY_AGAIN_LATER", "SERVER_ERROR", "INTERNAL_ERROR", "INTERNAL_SERVER_ERROR",
        "CONFLICT", "CONCURRENT_REFRESH", "REFRESH_IN_PROGRESS", "DUPLICATE_REQUEST", "REQUEST_IN_PROGRESS",
        "IDEMPOTENCY_CONFLICT", "LOCKED",
    ]

    /// The members that identify the server's own envelope. A member `success` must be `false`. If the set is empty, no
    /// refusal with a status of its own is an envelope.
    ///
    /// Choose members that no gateway sends together. Common gateways send `{"message": …}`.
    public var envelopeMembers: Set<String> = ["success", "code"]

    /// The statuses with which every envelope refuses the refresh token, unless its code is unrelated.
    public var rejectedEnvelopeStatuses: Set<Int> = [401]

    /// The statuses with which an envelope may refuse the refresh token, if its code is not listed.
    public var ambiguousEnvelopeStatuses: Set<Int> = [200, 400, 403, 409, 419, 422]

    /// The statuses that refuse the refresh token by themselves.
    public var rejectedStatuses: Set<Int> = []

    /// The statuses with which the server refuses what has expired. Give it those of
    /// `AuthenticationPolicy.expiredStatuses`, and 401.
    public var expiredStatuses: Set<Int> = [401, 419]

    /// Creates the documented rules. Add the codes of your server.
    public init() {}

    /// Rules for a server with words of its own, beside the sets above, such as those of a provider (`.cognito`).
    public var rules: [RefreshRefusalRule] = []

    /// Decides what a failed refresh call means for the session. The server's code may quote the secrets of the call.
    func verdict(on error: NetworkError, withoutQuoting secrets: [String?]) -> TokenRefreshError {
        guard let status = error.statusOfWholeResponse, !error.isPage else {
            return TokenRefreshError(.unavailable, error)
        }
        let answer = TokenCallRefusal(error)
        let isUnsuccessful = error.code == .unsuccessful
        let refusal = Refusal(
            status: isUnsuccessful ? 200 : status, codes: answer?.codes ?? [],
            isEnvelope: isUnsuccessful || answer?.body.isEnvelope(with: envelopeMembers) == true,
            asksToWait: error.asksToWait, hasToken: answer?.hasToken(besides: secrets) ?? false)
        // A success without an envelope refuses only by a rule.
        let isRefusal = error.isRefusalOfTheCall
        let listed = RefreshRefusalRule(refreshTokenCodes, at: RefreshRefusalRule.everyPlace, statuses)
        let unrelated = unrelatedCodes.union(TokenCallRefusal.clientCodes).filter { !$0.isOne(of: refreshTokenCodes) }
        let known = answer?.verdict(
            by: isRefusal ? rules + [listed] : rules, neverEnding: unrelated, withoutQuoting: secrets)
        let unlisted = isRefusal ? unlistedVerdict(on: refusal) : .unavailable
        let (code, serverCode, stepUp) = known ?? (unlisted, nil, nil)
        return TokenRefreshError(
            code, error, statusMeansExpired: expiredStatuses.contains(status),
            serverCode: serverCode ?? refusal.codes.first?.asIdentifier(withoutQuoting: secrets), stepUp: stepUp,
            hint: hint(code, refusal))
    }

    /// The verdict on a response whose code is not listed.
    private func unlistedVerdict(on refusal: Refusal) -> TokenRefreshError.Code {
        let status = refusal.status
        if refusal.asksToWait || refusal.hasToken { return .unavailable }
        if rejectedStatuses.contains(status) { return .rejected }
        if refusal.isEnvelope {
            if rejectedEnvelopeStatuses.contains(status) { return .rejected }
            if ambiguousEnvelopeStatuses.contains(status) { return .ambiguous }
        }
        return expiredStatuses.contains(status) ? .ambiguous : .unavailable
    }

    private func hint(_ code: TokenRefreshError.Code, _ refusal: Refusal) -> String? {
        switch code {
        case .ambiguous where refusal.isEnvelope:
            "no listed code, so the session ends only if this is repeated; add the code to refreshTokenCodes or "
                + "unrelatedCodes"
        case .ambiguous: "it may come from a gateway"
        case .unavailable where refusal.status == 403 || !refusal.codes.isEmpty:
            "no code refuses the refresh token, so the session stays; add it to refreshTokenCodes if it does"
        case .unavailable where [400, 422].contains(refusal.status):
            "no code, so the session stays; if this is how the server refuses a dead refresh token, use "
                + "RESTRejection.statuses([\(refusal.status)])"
        default: nil
        }
    }

    /// The facts by which a refusal is judged.
    private struct Refusal {
        /// 200 for every envelope with `"success": false` and a successful status.
        let status: Int
        let codes: [String]
        let isEnvelope: Bool
        let asksToWait: Bool
        /// Whether there is a token in it that was not sent.
        let hasToken: Bool
    }
}

/// The rules for servers that differ from the documented ones.
extension RESTRejection {
    /// Every error in the envelope, `"success": false`, refuses the refresh token, unless its code is unrelated or it
    /// asks to wait: for a server whose refresh call fails for no other reason.
    public static var anyEnvelopeError: RESTRejection {
        var rules = RESTRejection()
        rules.envelopeMembers = ["success"]
        rules.rejectedEnvelopeStatuses = rules.statuses
        return rules
    }

    /// These statuses refuse the refresh token, whatever the body says, unless it is a page or its code is unrelated.
    /// Name none that a gateway in front of the server sends.
    public static func statuses(_ statuses: Set<Int>) -> RESTRejection {
        var rules = RESTRejection()
        rules.rejectedStatuses = statuses
        return rules
    }

    /// These codes refuse the refresh token; case is ignored. An envelope with another code is ambiguous, with 401 too.
    public static func codes(_ codes: Set<String>) -> RESTRejection {
        var rules = RESTRejection()
        rules.refreshTokenCodes = codes
        rules.rejectedEnvelopeStatuses = []
        rules.ambiguousEnvelopeStatuses.insert(401)
        return rules
    }

    /// For a server without envelopes, whose error objects have a member `error`. Frameworks and gateways send such
    /// objects too, so only a listed code rejects at once.
    public static var errorObjects: RESTRejection {
        var rules = codes(RESTRejection().refreshTokenCodes)
        rules.envelopeMembers = ["error"]
        return rules
    }
}
