import Foundation
import NetworkCore

extension ProviderRefusalTests {
    /// The rules for each provider, by name. The others follow RFC 6749.
    private static let presets: [String: [RefreshRefusalRule]] = [
        "GitHub": .gitHub, "Firebase": .firebase, "Strava": .strava, "Fitbit": .fitbit, "Slack": .slack, "Zoho": .zoho,
        "Cognito": .cognito, "Atlassian": .atlassian, "HubSpot": .hubSpot, "Twitch": .twitch, "X": .x, "Zoom": .zoom,
        "Reddit": .reddit, "Yahoo": .yahoo, "Supabase": .supabase, "Feishu": .feishu, "WeChat": .weChat,
        "LinkedIn": .linkedIn, "Shopify": .shopify, "Naver": .naver, "TikTok": .tikTok, "Salesforce": .salesforce,
        "Keycloak": .keycloak, "Passport": .passport,
    ]

    static let providers = refusals.components(separatedBy: "# ").dropFirst().map { section in
        let lines = section.split(separator: "\n")
        return Provider(String(lines[0]), presets[String(lines[0])] ?? [], lines.dropFirst())
    }

    /// The responses of each provider: `dead` ends the session, `dying` ends it when it is repeated, `asking` demands
    /// something of the user, and `living` must not be taken for a refusal. A response is a status, fields as
    /// `@Name=value`, and the body.
    private static let refusals = #"""
        # GitHub
        dead   200 {"error":"bad_refresh_token","error_description":"incorrect or expired"}
        dead   400 {"error":"bad_refresh_token"}
        dead   200 @Content-Type=application/x-www-form-urlencoded error=bad_refresh_token&error_description=x
        living 200 {"error":"incorrect_client_credentials"}
        living 200 {"error":"unsupported_grant_type"}
        living 404 {"error":"Not Found"}
        living 200 {"error":"bad_refresh_token","access_token":"a"}
        # Firebase
        dead   400 {"error":{"code":400,"message":"TOKEN_EXPIRED","status":"INVALID_ARGUMENT"}}
        dead   400 {"error":{"code":400,"message":"INVALID_REFRESH_TOKEN"}}
        dead   400 {"error":{"code":400,"message":"USER_DISABLED"}}
        dead   400 {"error":{"code":400,"message":"USER_NOT_FOUND : x"}}
        living 400 {"error":{"code":400,"message":"PROJECT_NUMBER_MISMATCH","status":"INVALID_ARGUMENT"}}
        living 400 {"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}
        living 403 {"error":{"code":403,"status":"PERMISSION_DENIED"}}
        living 429 {"error":{"code":429,"message":"TOKEN_EXPIRED"}}
        # Strava
        dead   400 {"errors":[{"resource":"RefreshToken","field":"refresh_token","code":"invalid"}]}
        living 400 {"errors":[{"resource":"Application","field":"client_id","code":"invalid"}]}
        living 429 {"errors":[{"resource":"RefreshToken","field":"rate limit","code":"invalid"}]}
        living 400 {"errors":[{"resource":"RefreshToken","code":"missing"},{"resource":"X","code":"invalid"}]}
        # Fitbit
        dead   400 {"errors":[{"errorType":"invalid_grant","message":"x"}],"success":false}
        living 401 {"errors":[{"errorType":"invalid_client"}],"success":false}
        living 400 {"errors":[{"errorType":"invalid_request"}],"success":false}
        # Slack
        dead   200 {"ok":false,"error":"invalid_refresh_token"}
        living 200 {"ok":false,"error":"bad_client_secret"}
        living 200 {"ok":false,"error":"internal_error"}
        living 200 {"ok":false,"error":"ratelimited"}
        living 200 {"ok":true,"error":null}
        # Zoho
        dead   200 {"error":"invalid_code"}
        living 400 {"error":"Access Denied","error_description":"too many requests continuously"}
        living 200 {"error":"invalid_client"}
        # Cognito
        dead   400 {"__type":"NotAuthorizedException","message":"Refresh Token has been revoked"}
        dead   400 @x-amzn-ErrorType=NotAuthorizedException: {"message":"Refresh Token has expired"}
        dead   400 {"__type":"com.amazonaws.x#RefreshTokenReuseException","message":"x"}
        living 400 {"__type":"NotAuthorizedException","message":"SecretHash does not match"}
        living 400 {"__type":"TooManyRequestsException","message":"Refresh Token: slow down"}
        # Atlassian
        dead   403 {"error":"unauthorized_client","error_description":"refresh_token is invalid"}
        dead   403 {"error":"invalid_grant","error_description":"Unknown or invalid refresh token."}
        living 401 {"error":"access_denied","error_description":"Unauthorized"}
        living 403 {"error":"unauthorized_client","error_description":"x"}
        # HubSpot
        dead   400 {"status":"BAD_REFRESH_TOKEN","message":"missing or unknown refresh token"}
        dead   400 {"error":"invalid_request","status":"BAD_REFRESH_TOKEN","message":"refresh token is invalid"}
        living 400 {"status":"BAD_CLIENT_ID","message":"x","error":"invalid_client"}
        living 400 {"status":"error","message":"Any of the listed credentials are missing"}
        # Twitch
        dead   400 {"status":400,"message":"Invalid refresh token"}
        living 400 {"status":400,"message":"missing refresh token"}
        living 400 {"status":400,"message":"invalid client"}
        living 403 {"status":403,"message":"invalid client secret"}
        # X
        dead   400 {"error":"invalid_request","error_description":"Value passed for the token was invalid."}
        living 401 {"error":"unauthorized_client","error_description":"Missing valid authorization header"}
        living 400 {"error":"invalid_request","error_description":"Missing required parameter [client_id]."}
        living 400 {"error":"invalid_request","error_description":"Value passed for the authorization code was invalid."}
        # Zoom
        dead   400 {"reason":"Invalid Token!","error":"invalid_grant"}
        dead   401 {"reason":"Invalid Token!","error":"invalid_request"}
        living 400 {"reason":"Invalid client_id or client_secret","error":"invalid_client"}
        living 400 {"reason":"Bad Request","error":"invalid_request"}
        # Reddit
        living 401 {"message":"Unauthorized","error":401}
        living 429 {"message":"Too Many Requests","error":429}
        dying  400 {"message":"Bad Request","error":400}
        # Yahoo
        dead   400 {"error":"INVALID_REFRESH_TOKEN"}
        dead   401 {"error":"TOKEN_EXPIRED"}
        living 401 {"error":"INVALID_CLIENT_SECRET"}
        living 400 {"error":"PARAMETER_ABSENT"}
        # Supabase
        dead   400 {"code":400,"error_code":"refresh_token_not_found","msg":"x"}
        dead   400 {"code":"refresh_token_already_used","message":"x"}
        dead   400 {"error":"invalid_grant","error_description":"Invalid Refresh Token"}
        asking 400 {"code":"session_expired","message":"Low AAL: User Needs MFA Verification"}
        living 409 {"code":409,"error_code":"conflict","msg":"Too many concurrent token refresh requests"}
        living 429 {"code":429,"error_code":"over_request_rate_limit"}
        living 401 {"message":"Invalid API key"}
        # Feishu
        dead   200 {"code":20026,"msg":"x"}
        dead   400 {"code":20037,"error":"x"}
        living 400 {"code":20002,"msg":"x"}
        living 200 {"code":0,"msg":"success"}
        living 400 {"code":99991400}
        # WeChat
        dead   200 {"errcode":40030,"errmsg":"x"}
        dead   200 {"errcode":42002,"errmsg":"x"}
        living 200 {"errcode":40013,"errmsg":"x"}
        living 200 {"errcode":-1,"errmsg":"x"}
        living 200 {"errcode":0}
        # LinkedIn
        dead   400 {"error":"invalid_request","error_description":"The refresh token is invalid, expired or revoked."}
        living 400 {"error":"invalid_request","error_description":"\"refresh_token\" is missing"}
        living 401 {"error":"invalid_client"}
        # Shopify
        dead   401 {"error":"invalid_request","error_description":"This requires an active refresh_token"}
        living 401 {"error":"invalid_request","error_description":"x"}
        living 401 {}
        # Naver
        living 200 {"error":"invalid_request","error_description":"wrong client id / client secret pair"}
        dying  200 {"error":"invalid_request","error_description":"invalid refresh_token"}
        # TikTok
        dead   200 {"error":"invalid_grant","log_id":"1"}
        living 200 {"error":"server_error"}
        living 200 {"error":"invalid_client"}
        # Salesforce
        dead   400 {"error":"invalid_grant","error_description":"expired access/refresh token"}
        living 400 {"error":"invalid_grant","error_description":"token request is already being processed"}
        living 503 {"error":"invalid_grant"}
        living 400 {"error":"inactive_org"}
        # Keycloak
        dead   400 {"error":"invalid_grant","error_description":"Session not active"}
        living 400 {"error":"invalid_grant","error_description":"Invalid refresh token. Unmatching clients"}
        # Passport
        dead   401 {"error":"invalid_request","error_description":"The refresh token is invalid.","hint":"Token has expired"}
        dead   400 {"error":"invalid_grant","error_description":"The refresh token is invalid."}
        living 400 {"error":"invalid_request","error_description":"The request is missing a required parameter."}
        living 401 {"error":"invalid_client","message":"Client authentication failed"}
        # Microsoft, Google, Kakao and others by RFC 6749
        dead   400 {"error":"invalid_grant","error_codes":[700082],"suberror":"bad_token"}
        dead   400 {"error":"invalid_grant","suberror":"token_expired"}
        dead   400 {"error":"invalid_grant","suberror":"","claims":null,"error_subtype":""}
        dead   400 {"error":"invalid_grant","error_description":"Token has been expired or revoked."}
        dead   400 {"error":"invalid_grant","error_code":"KOE322"}
        dead   403 {"error":"invalid_grant","error_description":"Unknown or invalid refresh token."}
        dead   400 @Content-Type=application/x-www-form-urlencoded error=invalid_grant
        dead   400 @Content-Type=text/plain;charset=utf-8 {"error":"invalid_grant"}
        dead   400 {"error":"invalid_grant","error_description":"Invalid request."}
        dead   400 {"error":"invalid_grant","refresh_token":"fixture-refresh"}
        living 400 {"error":"invalid_grant","refresh_token":"fixture-refresh-2"}
        asking 403 {"error":"mfa_required","access_token":"limited"}
        living 400 {"error":"invalid_grant","error_codes":[50196],"error_description":"AADSTS50196: loop"}
        living 400 {"error":"invalid_grant","error_description":"AADSTS50196: a client request loop"}
        living 429 {"error":"invalid_grant"}
        living 400 @Retry-After=9 {"error":"invalid_grant"}
        living 400 {"error":["invalid_grant"]}
        living 200 {"error":"invalid_grant"}
        living 400 {"error":null,"errcode":0,"code":"","message":"invalid_grant"}
        """#

    /// What every provider, or a gateway before it, may respond.
    static let everywhere = [
        #"503 {"error":"temporarily_unavailable"}"#, #"400 {"error":"invalid_client"}"#,
        #"401 {"error":"invalid_client"}"#, "400 <html>bad_refresh_token</html>", "429 {}", "400 {}",
    ]
}
