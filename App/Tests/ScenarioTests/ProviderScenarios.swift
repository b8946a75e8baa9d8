import AuthInterface
import ContractTesting
import DataAPI
import DevBackend
import NetworkCore
import Testing
import TokenRefresh

extension Scenarios {
    /// S28: a token endpoint that speaks as a provider does.
    @Suite struct ProviderScenarios {
        struct Provider: Sendable {
            let name: String
            var rules: [RefreshRefusalRule] = []
            /// Of a refresh token that is dead.
            let dead: GatewayResponse
            /// Of its wrong client, beside what every provider may respond.
            let wrongClient: GatewayResponse
        }

        private static func json(_ status: Int, _ body: String) -> GatewayResponse {
            GatewayResponse(status: status, contentType: "application/json", body: body)
        }

        static let providers: [Provider] = [
            Provider(
                name: "GitHub", rules: .gitHub, dead: json(200, #"{"error":"bad_refresh_token"}"#),
                wrongClient: json(200, #"{"error":"incorrect_client_credentials"}"#)),
            Provider(
                name: "Firebase", rules: .firebase,
                dead: json(400, #"{"error":{"code":400,"message":"TOKEN_EXPIRED"}}"#),
                wrongClient: json(400, #"{"error":{"code":400,"message":"API key not valid."}}"#)),
            Provider(
                name: "Strava", rules: .strava,
                dead: json(400, #"{"errors":[{"resource":"RefreshToken","code":"invalid"}]}"#),
                wrongClient: json(400, #"{"errors":[{"resource":"Application","code":"invalid"}]}"#)),
            Provider(
                name: "Fitbit", rules: .fitbit, dead: json(400, #"{"errors":[{"errorType":"invalid_grant"}]}"#),
                wrongClient: json(401, #"{"errors":[{"errorType":"invalid_client"}]}"#)),
            Provider(
                name: "Slack", rules: .slack, dead: json(200, #"{"ok":false,"error":"invalid_refresh_token"}"#),
                wrongClient: json(200, #"{"ok":false,"error":"bad_client_secret"}"#)),
            Provider(
                name: "Zoho", rules: .zoho, dead: json(200, #"{"error":"invalid_code"}"#),
                wrongClient: json(200, #"{"error":"invalid_client"}"#)),
            Provider(
                name: "Cognito", rules: .cognito,
                dead: json(400, #"{"__type":"NotAuthorizedException","message":"Refresh Token has been revoked"}"#),
                wrongClient: json(400, #"{"__type":"NotAuthorizedException","message":"SecretHash does not match"}"#)),
            Provider(
                name: "Atlassian", rules: .atlassian,
                dead: json(403, #"{"error":"unauthorized_client","error_description":"refresh_token is invalid"}"#),
                wrongClient: json(401, #"{"error":"access_denied"}"#)),
            Provider(
                name: "HubSpot", rules: .hubSpot,
                dead: json(400, #"{"status":"BAD_REFRESH_TOKEN","message":"missing or unknown refresh token"}"#),
                wrongClient: json(400, #"{"status":"BAD_CLIENT_ID","error":"invalid_client"}"#)),
            Provider(
                name: "Twitch", rules: .twitch, dead: json(400, #"{"status":400,"message":"Invalid refresh token"}"#),
                wrongClient: json(403, #"{"status":403,"message":"invalid client secret"}"#)),
            Provider(
                name: "X", rules: .x,
                dead: json(
                    400, #"{"error":"invalid_request","error_description":"Value passed for the token was invalid."}"#),
                wrongClient: json(401, #"{"error":"unauthorized_client"}"#)),
            Provider(
                name: "Supabase", rules: .supabase, dead: json(400, #"{"error_code":"refresh_token_not_found"}"#),
                wrongClient: json(401, #"{"message":"Invalid API key"}"#)),
            Provider(
                name: "WeChat", rules: .weChat, dead: json(200, #"{"errcode":40030,"errmsg":"x"}"#),
                wrongClient: json(200, #"{"errcode":40125,"errmsg":"x"}"#)),
            Provider(
                name: "Microsoft", dead: json(400, #"{"error":"invalid_grant","suberror":"bad_token"}"#),
                wrongClient: json(401, #"{"error":"invalid_client","error_codes":[7000215]}"#)),
            Provider(
                name: "RFC 6749", dead: json(400, #"{"error":"invalid_grant"}"#),
                wrongClient: json(401, #"{"error":"invalid_client"}"#)),
        ]

        /// The second factor that a tenant has switched on.
        private static let demand = json(400, #"{"error":"invalid_grant","suberror":"basic_action","claims":"{}"}"#)

        private static func living(_ provider: Provider) -> [GatewayResponse] {
            [
                json(503, #"{"error":"temporarily_unavailable"}"#), json(429, #"{"error":"invalid_grant"}"#),
                provider.wrongClient, demand,
            ]
        }

        @Test(arguments: providers.indices)
        func `S28: a provider's outage, limit, wrong client and second factor end nothing, and its dead token does`(
            _ index: Int
        ) async throws {
            let provider = Self.providers[index]
            let clock = ManualTimeSource()
            try await TestApp.run({
                $0.failFast(with: clock)
                $0.handler = .oauth2
                $0.refusals = provider.rules
            }) { app in
                for (number, response) in Self.living(provider).enumerated() {
                    let isDemand = response == Self.demand
                    app.backend.faults = FaultPlan([FaultRule("POST", app.refreshPath, .gateway(response), times: 1)])
                    try await app.backend.expireAccessTokens()
                    let code: NetworkError.Code = isDemand ? .stepUpRequired : .refreshUnavailable
                    #expect(await app.sendAll(10).allSatisfy { $0?.code == code }, "\(provider.name) \(number)")
                    #expect((app.session.status.userAction != nil) == isDemand)
                    #expect(app.events.endings == [])
                    clock.advance(by: .seconds(31))
                    #expect(await app.send(.me) == nil, "\(provider.name) \(number)")
                    #expect(app.session.status.userAction == nil)
                    // The refusal of a token that was just refreshed would be a loop (G10).
                    clock.advance(by: .seconds(31))
                }
                app.backend.faults = FaultPlan([FaultRule("POST", app.refreshPath, .gateway(provider.dead), times: 1)])
                try await app.backend.expireAccessTokens()
                await app.sendAll(10).expectAll(failWith: .sessionEnded)
                #expect(app.events.endings.count == 1, "\(provider.name)")
            }
        }
    }
}
