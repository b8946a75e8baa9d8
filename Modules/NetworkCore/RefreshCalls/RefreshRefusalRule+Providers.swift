import AuthInterface

/// The dead refresh tokens of providers with words of their own; none was run against the provider. Where one keeps to
/// RFC 6749, no rule is needed. *Providers* in `OAuth2Flows` names the source of each, and what else to set.
extension [RefreshRefusalRule] {
    /// `{"error":"bad_refresh_token"}`, with 200.
    public static var gitHub: Self { [.init(["bad_refresh_token"], [200, 400, 401])] }

    /// `{"error":{"message":"TOKEN_EXPIRED"}}`.
    public static var firebase: Self {
        [.init(["TOKEN_EXPIRED", "INVALID_REFRESH_TOKEN", "USER_DISABLED", "USER_NOT_FOUND"], at: ["error.message"])]
    }

    /// `{"errors":[{"resource":"RefreshToken","code":"invalid"}]}`; the resource `Application` is a wrong client.
    public static var strava: Self { [.init(["invalid", "expired"], at: ["errors[].code"], resource: "RefreshToken")] }

    /// `{"errors":[{"errorType":"invalid_grant"}]}`.
    public static var fitbit: Self { [.init(["invalid_grant"], at: ["errors[].errorType"])] }

    /// `{"ok":false,"error":"invalid_refresh_token"}`, with 200.
    public static var slack: Self { [.init(["invalid_refresh_token"], [200, 400, 401])] }

    /// `{"error":"invalid_code"}`, with 200.
    public static var zoho: Self { [.init(["invalid_code"], [200, 400, 401])] }

    /// `{"__type":"NotAuthorizedException","message":"Refresh Token …"}` of the API of user pools, not a wrong client.
    public static var cognito: Self {
        let places = ["__type", "header:x-amzn-ErrorType"]
        return [
            .init(["NotAuthorizedException"], at: places, containing: "Refresh Token"),
            .init(["RefreshTokenReuseException"], at: places),
        ]
    }

    /// `{"error":"unauthorized_client","error_description":"refresh_token is invalid"}`, with 403.
    public static var atlassian: Self { [.init(["unauthorized_client"], containing: "refresh_token is invalid")] }

    /// `{"status":"BAD_REFRESH_TOKEN","message":"missing or unknown refresh token"}`, beside any `error`.
    public static var hubSpot: Self { [.init(["BAD_REFRESH_TOKEN"], at: ["status"], containing: "refresh token")] }

    /// `{"status":400,"message":"Invalid refresh token"}`.
    public static var twitch: Self { [.init(["Invalid refresh token"], at: ["message"])] }

    /// `invalid_request` with *Value passed for the token was invalid.*
    public static var x: Self { [.init(["invalid_request"], containing: "Value passed for the token was invalid")] }

    /// `{"reason":"Invalid Token!","error":"invalid_request"}` beside `invalid_grant`.
    public static var zoom: Self { [.init(["invalid_request"], [400, 401], containing: "Invalid Token!")] }

    /// `{"message":"Bad Request","error":400}`: a wrong call gets the same, so it must be repeated.
    public static var reddit: Self { [.init(["400"], [400], containing: "Bad Request", means: .ambiguous)] }

    /// `{"error":"INVALID_REFRESH_TOKEN"}`.
    public static var yahoo: Self { [.init(["INVALID_REFRESH_TOKEN", "TOKEN_EXPIRED", "INVALID_GRANT"])] }

    /// `{"error_code":"refresh_token_not_found"}`; a session that needs a second factor asks the user for it.
    public static var supabase: Self {
        let codes: Set = [
            "refresh_token_not_found", "refresh_token_already_used", "session_not_found", "session_expired",
            "user_banned", "user_not_found",
        ]
        let places = ["error_code", "code"]
        return [
            .init(["session_expired"], at: places, containing: "MFA", means: .userActionRequired),
            .init(codes, at: places),
        ]
    }

    /// `{"code":20037}`: 20026 invalid, 20037 expired, 20064 revoked, 20073 used.
    public static var feishu: Self { [.init(["20026", "20037", "20064", "20073"], at: ["code"], [200, 400, 401])] }

    /// `{"errcode":40030,"errmsg":"invalid refresh_token"}`, with 200.
    public static var weChat: Self { [.init(["40030", "42002", "61023"], at: ["errcode"], [200, 400])] }

    /// `invalid_request` with *… refresh token is invalid, expired or revoked*.
    public static var linkedIn: Self {
        [.init(["invalid_request"], containing: "refresh token is invalid, expired or revoked")]
    }

    /// `invalid_request` with *The refresh token is invalid.*, as league/oauth2-server before version 9 writes it.
    public static var passport: Self {
        [.init(["invalid_request"], [400, 401], containing: "refresh token is invalid")]
    }

    /// `invalid_request` with *This request requires an active refresh_token*, and 401.
    public static var shopify: Self { [.init(["invalid_request"], [401], containing: "active refresh_token")] }

    /// `invalid_request` with a text of the refresh token: a wrong client gets the same code, so it must be repeated.
    public static var naver: Self {
        [.init(["invalid_request"], [200, 400, 401, 403], containing: "refresh", means: .ambiguous)]
    }

    /// `{"error":"invalid_grant"}`, with 200 too.
    public static var tikTok: Self { [.init(["invalid_grant"], [200, 400, 401])] }

    /// `invalid_grant` while another refresh of the same token is at work ends nothing.
    public static var salesforce: Self {
        [.init(["invalid_grant"], containing: "token request is already being processed", means: .unavailable)]
    }

    /// `invalid_grant` for a wrong client ends nothing.
    public static var keycloak: Self {
        ["Unmatching clients", "authorized client don't match"].map {
            .init(["invalid_grant"], containing: $0, means: .unavailable)
        }
    }
}
