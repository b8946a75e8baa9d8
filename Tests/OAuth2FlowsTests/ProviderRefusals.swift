import NetworkCore

extension ProviderRefusalTests {
    static let providers: [Provider] = [
        Provider(
            "GitHub", .gitHub,
            dead: #"""
                200 {"error":"bad_refresh_token","error_description":"incorrect or expired"}
                400 {"error":"bad_refresh_token"}
                200 @Content-Type=application/x-www-form-urlencoded error=bad_refresh_token&error_description=x
                """#,
            living: #"""
                200 {"error":"incorrect_client_credentials"}
                200 {"error":"unsupported_grant_type"}
                404 {"error":"Not Found"}
                200 {"error":"bad_refresh_token","access_token":"a"}
                """#),
        Provider(
            "Firebase", .firebase,
            dead: #"""
                400 {"error":{"code":400,"message":"TOKEN_EXPIRED","status":"INVALID_ARGUMENT"}}
                400 {"error":{"code":400,"message":"INVALID_REFRESH_TOKEN"}}
                400 {"error":{"code":400,"message":"USER_DISABLED"}}
                400 {"error":{"code":400,"message":"USER_NOT_FOUND : x"}}
                """#,
            living: #"""
                400 {"error":{"code":400,"message":"PROJECT_NUMBER_MISMATCH","status":"INVALID_ARGUMENT"}}
                400 {"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}
                403 {"error":{"code":403,"status":"PERMISSION_DENIED"}}
                429 {"error":{"code":429,"message":"TOKEN_EXPIRED"}}
                """#),
        Provider(
            "Strava", .strava,
            dead: #"400 {"errors":[{"resource":"RefreshToken","field":"refresh_token","code":"invalid"}]}"#,
            living: #"""
                400 {"errors":[{"resource":"Application","field":"client_id","code":"invalid"}]}
                429 {"errors":[{"resource":"RefreshToken","field":"rate limit","code":"invalid"}]}
                400 {"errors":[{"resource":"RefreshToken","code":"missing"},{"resource":"X","code":"invalid"}]}
                """#),
        Provider(
            "Fitbit", .fitbit, dead: #"400 {"errors":[{"errorType":"invalid_grant","message":"x"}],"success":false}"#,
            living: #"""
                401 {"errors":[{"errorType":"invalid_client"}],"success":false}
                400 {"errors":[{"errorType":"invalid_request"}],"success":false}
                """#),
        Provider(
            "Slack", .slack, dead: #"200 {"ok":false,"error":"invalid_refresh_token"}"#,
            living: #"""
                200 {"ok":false,"error":"bad_client_secret"}
                200 {"ok":false,"error":"internal_error"}
                200 {"ok":false,"error":"ratelimited"}
                200 {"ok":true,"error":null}
                """#),
        Provider(
            "Zoho", .zoho, dead: #"200 {"error":"invalid_code"}"#,
            living: #"""
                400 {"error":"Access Denied","error_description":"too many requests continuously"}
                200 {"error":"invalid_client"}
                """#),
        Provider(
            "Cognito", .cognito,
            dead: #"""
                400 {"__type":"NotAuthorizedException","message":"Refresh Token has been revoked"}
                400 @x-amzn-ErrorType=NotAuthorizedException: {"message":"Refresh Token has expired"}
                400 {"__type":"com.amazonaws.x#RefreshTokenReuseException","message":"x"}
                """#,
            living: #"""
                400 {"__type":"NotAuthorizedException","message":"SecretHash does not match"}
                400 {"__type":"TooManyRequestsException","message":"Refresh Token: slow down"}
                """#),
        Provider(
            "Atlassian", .atlassian,
            dead: #"""
                403 {"error":"unauthorized_client","error_description":"refresh_token is invalid"}
                403 {"error":"invalid_grant","error_description":"Unknown or invalid refresh token."}
                """#,
            living: #"""
                401 {"error":"access_denied","error_description":"Unauthorized"}
                403 {"error":"unauthorized_client","error_description":"x"}
                """#),
        Provider(
            "HubSpot", .hubSpot,
            dead: #"""
                400 {"status":"BAD_REFRESH_TOKEN","message":"missing or unknown refresh token"}
                400 {"error":"invalid_request","status":"BAD_REFRESH_TOKEN","message":"refresh token is invalid"}
                """#,
            living: #"""
                400 {"status":"BAD_CLIENT_ID","message":"x","error":"invalid_client"}
                400 {"status":"error","message":"Any of the listed credentials are missing"}
                """#),
        Provider(
            "Twitch", .twitch, dead: #"400 {"status":400,"message":"Invalid refresh token"}"#,
            living: #"""
                400 {"status":400,"message":"missing refresh token"}
                400 {"status":400,"message":"invalid client"}
                403 {"status":403,"message":"invalid client secret"}
                """#),
        Provider(
            "X", .x,
            dead: #"400 {"error":"invalid_request","error_description":"Value passed for the token was invalid."}"#,
            living: #"""
                401 {"error":"unauthorized_client","error_description":"Missing valid authorization header"}
                400 {"error":"invalid_request","error_description":"Missing required parameter [client_id]."}
                400 {"error":"invalid_request","error_description":"Value passed for the authorization code was invalid."}
                """#),
        Provider(
            "Zoom", .zoom,
            dead: #"""
                400 {"reason":"Invalid Token!","error":"invalid_grant"}
                401 {"reason":"Invalid Token!","error":"invalid_request"}
                """#,
            living: #"""
                400 {"reason":"Invalid client_id or client_secret","error":"invalid_client"}
                400 {"reason":"Bad Request","error":"invalid_request"}
                """#),
        Provider(
            "Reddit", .reddit, dead: "",
            living: #"""
                401 {"message":"Unauthorized","error":401}
                429 {"message":"Too Many Requests","error":429}
                """#,
            dying: #"400 {"message":"Bad Request","error":400}"#),
        Provider(
            "Yahoo", .yahoo,
            dead: #"""
                400 {"error":"INVALID_REFRESH_TOKEN"}
                401 {"error":"TOKEN_EXPIRED"}
                """#,
            living: #"""
                401 {"error":"INVALID_CLIENT_SECRET"}
                400 {"error":"PARAMETER_ABSENT"}
                """#),
        Provider(
            "Supabase", .supabase,
            dead: #"""
                400 {"code":400,"error_code":"refresh_token_not_found","msg":"x"}
                400 {"code":"refresh_token_already_used","message":"x"}
                400 {"error":"invalid_grant","error_description":"Invalid Refresh Token"}
                """#,
            living: #"""
                409 {"code":409,"error_code":"conflict","msg":"Too many concurrent token refresh requests"}
                429 {"code":429,"error_code":"over_request_rate_limit"}
                401 {"message":"Invalid API key"}
                """#),
        Provider(
            "Feishu", .feishu,
            dead: #"""
                200 {"code":20026,"msg":"x"}
                400 {"code":20037,"error":"x"}
                """#,
            living: #"""
                400 {"code":20002,"msg":"x"}
                200 {"code":0,"msg":"success"}
                400 {"code":99991400}
                """#),
        Provider(
            "WeChat", .weChat,
            dead: #"""
                200 {"errcode":40030,"errmsg":"x"}
                200 {"errcode":42002,"errmsg":"x"}
                """#,
            living: #"""
                200 {"errcode":40013,"errmsg":"x"}
                200 {"errcode":-1,"errmsg":"x"}
                200 {"errcode":0}
                """#),
        Provider(
            "LinkedIn", .linkedIn,
            dead: #"""
                400 {"error":"invalid_request","error_description":"The refresh token is invalid, expired or revoked."}
                """#,
            living: #"""
                400 {"error":"invalid_request","error_description":"\"refresh_token\" is missing"}
                401 {"error":"invalid_client"}
                """#),
        Provider(
            "Shopify", .shopify,
            dead: #"401 {"error":"invalid_request","error_description":"This requires an active refresh_token"}"#,
            living: #"""
                401 {"error":"invalid_request","error_description":"x"}
                401 {}
                """#),
        Provider(
            "Naver", .naver, dead: "",
            living: #"200 {"error":"invalid_request","error_description":"wrong client id / client secret pair"}"#,
            dying: #"200 {"error":"invalid_request","error_description":"invalid refresh_token"}"#),
        Provider(
            "TikTok", .tikTok, dead: #"200 {"error":"invalid_grant","log_id":"1"}"#,
            living: #"""
                200 {"error":"server_error"}
                200 {"error":"invalid_client"}
                """#),
        Provider(
            "Salesforce", .salesforce,
            dead: #"400 {"error":"invalid_grant","error_description":"expired access/refresh token"}"#,
            living: #"""
                400 {"error":"invalid_grant","error_description":"token request is already being processed"}
                503 {"error":"invalid_grant"}
                400 {"error":"inactive_org"}
                """#),
        Provider(
            "Keycloak", .keycloak, dead: #"400 {"error":"invalid_grant","error_description":"Session not active"}"#,
            living: #"""
                400 {"error":"invalid_grant","error_description":"Invalid refresh token. Unmatching clients"}
                """#),
        Provider(
            "Microsoft, Google, Kakao and others by RFC 6749", [],
            dead: #"""
                400 {"error":"invalid_grant","error_codes":[700082],"suberror":"bad_token"}
                400 {"error":"invalid_grant","suberror":"token_expired"}
                400 {"error":"invalid_grant","suberror":"","claims":null,"error_subtype":""}
                400 {"error":"invalid_grant","error_description":"Token has been expired or revoked."}
                400 {"error":"invalid_grant","error_code":"KOE322"}
                403 {"error":"invalid_grant","error_description":"Unknown or invalid refresh token."}
                400 @Content-Type=application/x-www-form-urlencoded error=invalid_grant
                400 @Content-Type=text/plain;charset=utf-8 {"error":"invalid_grant"}
                """#,
            living: #"""
                400 {"error":"invalid_grant","error_codes":[50196],"error_description":"AADSTS50196: loop"}
                400 {"error":"invalid_grant","error_description":"AADSTS50196: a client request loop"}
                429 {"error":"invalid_grant"}
                400 @Retry-After=9 {"error":"invalid_grant"}
                400 {"error":["invalid_grant"]}
                200 {"error":"invalid_grant"}
                400 {"error":null,"errcode":0,"code":"","message":"invalid_grant"}
                """#),
    ]

    /// What every provider, or a gateway before it, may respond.
    static let everywhere = #"""
        503 {"error":"temporarily_unavailable"}
        400 {"error":"invalid_client"}
        401 {"error":"invalid_client"}
        400 <html>bad_refresh_token</html>
        429 {}
        400 {}
        """#
}
