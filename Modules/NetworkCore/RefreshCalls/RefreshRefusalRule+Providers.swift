import AuthInterface

/// The dead refresh tokens of providers with words of their own. The shapes are those of the sources named; none was
/// run against the provider. Where a provider keeps to RFC 6749, no rule is needed: Google, Microsoft, Kakao, Spotify,
/// Discord, Dropbox, Auth0, Okta, Box.
extension [RefreshRefusalRule] {
    /// `{"error":"bad_refresh_token"}`, with 200 (the thread coder/coder, `isFailedRefresh`; getsentry/junior#620).
    public static var gitHub: Self { [RefreshRefusalRule(["bad_refresh_token"], [200, 400, 401])] }

    /// `{"error":{"message":"TOKEN_EXPIRED"}}` (firebase.google.com, REST reference of Auth, *refresh token*).
    public static var firebase: Self {
        let codes: Set = ["TOKEN_EXPIRED", "INVALID_REFRESH_TOKEN", "USER_DISABLED", "USER_NOT_FOUND"]
        return [RefreshRefusalRule(codes, at: ["error.message"])]
    }

    /// `{"errors":[{"resource":"RefreshToken","code":"invalid"}]}`; the resource `Application` is a wrong client
    /// (dreeveapp/dreeve#1449).
    public static var strava: Self {
        [RefreshRefusalRule(["invalid", "expired"], at: ["errors[].code"], resource: "RefreshToken")]
    }

    /// `{"errors":[{"errorType":"invalid_grant"}]}` (home-assistant/core#141223).
    public static var fitbit: Self { [RefreshRefusalRule(["invalid_grant"], at: ["errors[].errorType"])] }

    /// `{"ok":false,"error":"invalid_refresh_token"}`, with 200 (docs.slack.dev, `oauth.v2.access`).
    public static var slack: Self { [RefreshRefusalRule(["invalid_refresh_token"], [200, 400, 401])] }

    /// `{"error":"invalid_code"}`, with 200 (Weble/ZohoBooksApi#84).
    public static var zoho: Self { [RefreshRefusalRule(["invalid_code"], [200, 400, 401])] }

    /// `{"__type":"NotAuthorizedException","message":"Refresh Token has been revoked"}` of the API of user pools; the
    /// same type with other messages is a wrong client (aws/aws-sdk-net#1936).
    public static var cognito: Self {
        let places = ["__type", "header:x-amzn-ErrorType"]
        return [
            RefreshRefusalRule(["NotAuthorizedException"], at: places, containing: "Refresh Token"),
            RefreshRefusalRule(["RefreshTokenReuseException"], at: places),
        ]
    }

    /// `{"error":"unauthorized_client","error_description":"refresh_token is invalid"}`, with 403
    /// (raycast/extensions#11836).
    public static var atlassian: Self {
        [RefreshRefusalRule(["unauthorized_client"], containing: "refresh_token is invalid")]
    }

    /// `{"status":"BAD_REFRESH_TOKEN","message":"missing or unknown refresh token"}`, beside any `error`
    /// (developers.hubspot.com, *Manage OAuth tokens*).
    public static var hubSpot: Self {
        [RefreshRefusalRule(["BAD_REFRESH_TOKEN"], at: ["status"], containing: "refresh token")]
    }

    /// `{"status":400,"message":"Invalid refresh token"}` (dev.twitch.tv, *Refreshing access tokens*).
    public static var twitch: Self { [RefreshRefusalRule(["Invalid refresh token"], at: ["message"])] }

    /// `{"error":"invalid_request","error_description":"Value passed for the token was invalid."}` (several clients;
    /// transitive-bullshit/chatgpt-twitter-bot).
    public static var x: Self {
        [RefreshRefusalRule(["invalid_request"], containing: "Value passed for the token was invalid")]
    }

    /// `{"reason":"Invalid Token!","error":"invalid_request"}` beside `invalid_grant` (raycast/extensions#10896).
    public static var zoom: Self {
        [RefreshRefusalRule(["invalid_request"], [400, 401], containing: "Invalid Token!")]
    }

    /// `{"message":"Bad Request","error":400}`: a wrong call gets the same, so it must be repeated (praw-dev/praw#677).
    public static var reddit: Self {
        [RefreshRefusalRule(["400"], [400], containing: "Bad Request", means: .ambiguous)]
    }

    /// `{"error":"INVALID_REFRESH_TOKEN"}` (developer.yahoo.com, OAuth 2.0, *Errors*).
    public static var yahoo: Self { [RefreshRefusalRule(["INVALID_REFRESH_TOKEN", "TOKEN_EXPIRED", "INVALID_GRANT"])] }

    /// `{"error_code":"refresh_token_not_found"}`; a session that is over until the user has passed a second factor
    /// asks for that (supabase/auth, `internal/api/apierrors`).
    public static var supabase: Self {
        let codes: Set = [
            "refresh_token_not_found", "refresh_token_already_used", "session_not_found", "session_expired",
            "user_banned", "user_not_found",
        ]
        let places = ["error_code", "code"]
        return [
            RefreshRefusalRule(["session_expired"], at: places, containing: "MFA", means: .userActionRequired),
            RefreshRefusalRule(codes, at: places),
        ]
    }

    /// `{"code":20037,"error":"invalid_grant"}`: 20026 invalid, 20037 expired, 20064 revoked, 20073 used
    /// (open.larkoffice.com, *Refresh user_access_token*).
    public static var feishu: Self {
        [RefreshRefusalRule(["20026", "20037", "20064", "20073"], at: ["code"], [200, 400, 401])]
    }

    /// `{"errcode":40030,"errmsg":"invalid refresh_token"}`, with 200 (developers.weixin.qq.com).
    public static var weChat: Self {
        [RefreshRefusalRule(["40030", "42002", "61023"], at: ["errcode"], [200, 400])]
    }

    /// `{"error":"invalid_request","error_description":"The provided authorization grant or refresh token is invalid,
    /// expired or revoked"}` (several clients; no page of the provider shows it).
    public static var linkedIn: Self {
        [RefreshRefusalRule(["invalid_request"], containing: "refresh token is invalid, expired or revoked")]
    }

    /// `{"error":"invalid_request","error_description":"This request requires an active refresh_token"}`, with 401
    /// (several clients; no page of the provider shows it).
    public static var shopify: Self {
        [RefreshRefusalRule(["invalid_request"], [401], containing: "active refresh_token")]
    }

    /// `{"error":"invalid_request"}` with a description of the refresh token. A wrong client gets the same code, so it
    /// must be repeated; the text is reconstructed (naver/naver-openapi-guide names the codes alone).
    public static var naver: Self {
        let statuses = RefreshRefusalRule.usualStatuses.union([200])
        return [RefreshRefusalRule(["invalid_request"], statuses, containing: "refresh", means: .ambiguous)]
    }

    /// `{"error":"invalid_grant"}` with 200 too (developers.tiktok.com, *Error handling*).
    public static var tikTok: Self { [RefreshRefusalRule(["invalid_grant"], [200, 400, 401])] }

    /// `invalid_grant` while another refresh of the same token is at work ends nothing (forcedotcom/sfdx-core#1342).
    public static var salesforce: Self {
        let text = "token request is already being processed"
        return [RefreshRefusalRule(["invalid_grant"], containing: text, means: .unavailable)]
    }

    /// `invalid_grant` for a wrong client ends nothing (keycloak, `TokenManager`).
    public static var keycloak: Self {
        ["Unmatching clients", "authorized client don't match"].map {
            RefreshRefusalRule(["invalid_grant"], containing: $0, means: .unavailable)
        }
    }
}
