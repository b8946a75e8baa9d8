import DevBackend
import Foundation
import Testing

@Suite(.hangLimit) struct OAuth2Tests {
    private let client = "client_id=latchkey-dev&client_secret=development-only"
    private let basic = ["Authorization": "Basic " + Data("latchkey-dev:development-only".utf8).base64EncodedString()]

    @Test func `a refresh grant rotates the families of the REST endpoints`() async throws {
        try await TestClient.withGuest({ $0.accessTokenLifetime = .seconds(90) }) { backend, http, signedIn in
            let form = "grant_type=refresh_token&refresh_token=\(signedIn.refreshToken)"

            let response = try await http.post("/oauth2/token", form: form, headers: basic)

            #expect(response.status == 200)
            #expect(response.header("Cache-Control") == "no-store")
            #expect(response.member("token_type") == "Bearer")
            #expect(response.member("expires_in") == "90")
            #expect(response.member("success") == nil)
            let access = try #require(response.member("access_token"))
            #expect(try await http.get("/users/me", token: access).status == 200)

            let next = try #require(response.member("refresh_token"))
            let body = "grant_type=refresh_token&refresh_token=\(next)&\(client)"
            #expect(try await http.post("/oauth2/token", form: body).status == 200)
            #expect(backend.statistics.refreshes == .init(received: 2, committed: 2))
            #expect(try await http.refresh(signedIn.refreshToken).code == "REFRESH_TOKEN_REUSED")
        }
    }

    @Test(arguments: [
        ("grant_type=refresh_token", "invalid_request"), ("refresh_token=x", "invalid_request"),
        ("grant_type=refresh_token&refresh_token=", "invalid_request"),
        ("grant_type=refresh_token&refresh_token=x&refresh_token=x", "invalid_request"),
        ("grant_type=refresh_token&refresh_token=%FF", "invalid_request"),
        ("grant_type=password&username=x", "unsupported_grant_type"),
        ("grant_type=refresh_token&refresh_token=never-issued", "invalid_grant"),
    ])
    func `an error has the code of the specification`(form: String, error: String) async throws {
        try await TestClient.withServer { backend, http in
            let response = try await http.post("/oauth2/token", form: "\(form)&\(client)")
            #expect(response.status == 400)
            #expect(response.member("error") == error)
            #expect(response.header("Cache-Control") == "no-store")
            #expect(backend.statistics.refreshes == .init(received: 1, rejected: 1))
        }
    }

    @Test(arguments: [
        ("", nil), ("&client_id=latchkey-dev", nil), ("&client_id=latchkey-dev&client_secret=guess", nil),
        ("&client_id=x", nil), ("", "Basic bGF0Y2hrZXktZGV2Omd1ZXNz"), ("", "Basic !"), ("", "Bearer x"), ("", "Basic"),
    ])
    func `a client that fails to authenticate is refused, and by header it is challenged`(
        credentials: String, authorization: String?
    ) async throws {
        try await TestClient.withServer { _, http in
            let form = "grant_type=refresh_token&refresh_token=x\(credentials)"
            let headers = authorization.map { ["Authorization": $0] } ?? [:]
            let response = try await http.post("/oauth2/token", form: form, headers: headers)
            #expect(response.status == (authorization == nil ? 400 : 401))
            #expect(response.member("error") == "invalid_client")
            let challenge = response.header("WWW-Authenticate")
            #expect(challenge?.hasPrefix("Basic ") == (authorization == nil ? nil : true))
        }
    }

    @Test func `revoking either token ends the family`() async throws {
        try await TestClient.withServer { backend, http in
            let first = try await http.signIn()
            let second = try await http.signIn()
            for token in [first.refreshToken, second.accessToken, "never-issued", first.refreshToken] {
                let response = try await http.post("/oauth2/revoke", form: "token=\(token)&token_type_hint=x&\(client)")
                #expect(response.status == 200)
                #expect(response.data.isEmpty)
            }
            #expect(try await http.get("/users/me", token: first.accessToken).code == "SESSION_REVOKED")
            #expect(try await http.refresh(second.refreshToken).code == "SESSION_REVOKED")
            #expect(backend.statistics.logouts == 2)
            #expect(try await http.post("/oauth2/revoke", form: "token=x").status == 400)
        }
    }

    @Test func `a fault has the form of the endpoint's errors`() async throws {
        try await TestClient.withServer { backend, http in
            backend.faults = FaultPlan([
                FaultRule("POST", "/oauth2/token", .respond(status: 503, retryAfter: .seconds(3)), times: 1),
                FaultRule("POST", "/oauth2/token", .respond(status: 400, code: "invalid_grant"), times: 1),
            ])
            let busy = try await http.post("/oauth2/token", form: "")
            #expect(busy.status == 503)
            #expect(busy.member("error") == "temporarily_unavailable")
            #expect(busy.header("Retry-After") == "3")
            let refused = try await http.post("/oauth2/token", form: "")
            #expect(refused.status == 400)
            #expect(refused.member("error") == "invalid_grant")
        }
    }
}
