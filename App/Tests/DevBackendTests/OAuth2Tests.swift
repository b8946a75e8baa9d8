import DevBackend
import Foundation
import Testing

@Suite(.hangLimit) struct OAuth2Tests {
    private static let credentials = "client_id=latchkey-dev&client_secret=development-only"
    private let basic = ["Authorization": "Basic " + Data("latchkey-dev:development-only".utf8).base64EncodedString()]

    @Test(.server { $0.accessTokenLifetime = .seconds(90) })
    func `a refresh grant rotates the families of the REST endpoints`() async throws {
        let signedIn = try await client.signIn()
        let form = "grant_type=refresh_token&refresh_token=\(signedIn.refreshToken)"
        let response = try await client.post("/oauth2/token", form: form, headers: basic)
        #expect(response.status == 200)
        #expect(response.header("Cache-Control") == "no-store")
        #expect(response.member("token_type") == "Bearer")
        #expect(response.member("expires_in") == "90")
        #expect(response.member("success") == nil)
        let access = try #require(response.member("access_token"))
        #expect(try await client.get("/users/me", token: access).status == 200)
        let next = try #require(response.member("refresh_token"))
        let body = "grant_type=refresh_token&refresh_token=\(next)&\(Self.credentials)"
        #expect(try await client.post("/oauth2/token", form: body).status == 200)
        #expect(backend.statistics.refreshes == .init(received: 2, committed: 2))
        #expect(try await client.refresh(signedIn.refreshToken).code == "REFRESH_TOKEN_REUSED")
    }

    @Test(
        .server,
        arguments: [
            ("grant_type=refresh_token", "invalid_request"), ("refresh_token=x", "invalid_request"),
            ("grant_type=refresh_token&refresh_token=", "invalid_request"),
            ("grant_type=refresh_token&refresh_token=x&refresh_token=x", "invalid_request"),
            ("grant_type=refresh_token&refresh_token=%FF", "invalid_request"),
            ("grant_type=password&username=x", "unsupported_grant_type"),
            ("grant_type=refresh_token&refresh_token=never-issued", "invalid_grant"),
        ])
    func `an error has the code of the specification`(form: String, error: String) async throws {
        let response = try await client.post("/oauth2/token", form: "\(form)&\(Self.credentials)")
        #expect(response.status == 400)
        #expect(response.member("error") == error)
        #expect(response.header("Cache-Control") == "no-store")
        #expect(backend.statistics.refreshes == .init(received: 1, rejected: 1))
    }

    @Test(
        .server,
        arguments: [
            ("", nil), ("&client_id=latchkey-dev", nil), ("&client_id=latchkey-dev&client_secret=guess", nil),
            ("&client_id=x", nil), ("", "Basic bGF0Y2hrZXktZGV2Omd1ZXNz"), ("", "Basic !"), ("", "Bearer x"),
            ("", "Basic"),
        ])
    func `a client that fails to authenticate is refused, and by header it is challenged`(
        credentials: String, authorization: String?
    ) async throws {
        let form = "grant_type=refresh_token&refresh_token=x\(credentials)"
        let headers = authorization.map { ["Authorization": $0] } ?? [:]
        let response = try await client.post("/oauth2/token", form: form, headers: headers)
        #expect(response.status == (authorization == nil ? 400 : 401))
        #expect(response.member("error") == "invalid_client")
        #expect(response.header("WWW-Authenticate")?.hasPrefix("Basic ") == (authorization == nil ? nil : true))
    }

    @Test(.server) func `revoking either token ends the family`() async throws {
        let first = try await client.signIn()
        let second = try await client.signIn()
        for token in [first.refreshToken, second.accessToken, "never-issued", first.refreshToken] {
            let response = try await client.post(
                "/oauth2/revoke", form: "token=\(token)&token_type_hint=x&\(Self.credentials)")
            #expect(response.status == 200)
            #expect(response.data.isEmpty)
        }
        #expect(try await client.get("/users/me", token: first.accessToken).code == "SESSION_REVOKED")
        #expect(try await client.refresh(second.refreshToken).code == "SESSION_REVOKED")
        #expect(backend.statistics.logouts == 2)
        #expect(try await client.post("/oauth2/revoke", form: "token=x").status == 400)
    }

    @Test(arguments: ["development-only", nil])
    func `a code is exchanged once, with its verifier, by a client with a secret or a public one`(
        secret: String?
    ) async throws {
        let client = "client_id=latchkey-dev" + (secret.map { "&client_secret=\($0)" } ?? "")
        let redirect = "redirect_uri=http://127.0.0.1:1/callback"
        // RFC 7636, appendix B.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        let page =
            "/oauth2/authorize?response_type=code&client_id=latchkey-dev&\(redirect)&state=s"
            + "&code_challenge_method=S256&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        try await TestClient.withServer({ $0.oauth2Client.secret = secret }) { http in
            func location(_ form: String) async throws -> String {
                try #require(try await http.post(page, form: form).header("Location"))
            }
            #expect(try await location("decision=deny").hasSuffix("&state=s&error=access_denied"))
            func exchange(_ code: Substring, _ verifier: String) async throws -> Received.Response {
                let form = "grant_type=authorization_code&\(redirect)&code=\(code)&code_verifier=\(verifier)&\(client)"
                return try await http.post("/oauth2/token", form: form)
            }
            func newCode() async throws -> Substring {
                try #require(try await location("name=Ada").firstMatch(of: /[?&]code=([^&]+)/)?.1)
            }
            #expect(try await exchange(newCode(), "x").member("error") == "invalid_grant")
            let code = try await newCode()
            let token = try #require(try await exchange(code, verifier).member("access_token"))
            #expect(try await http.get("/users/me", token: token).data(Received.User.self).name == "Ada")
            #expect(try await exchange(code, verifier).member("error") == "invalid_grant")
            #expect(try await http.get("/users/me", token: token).code == "SESSION_REVOKED")
        }
    }

    @Test(.server) func `a device's code is entered in any spelling, and once`() async throws {
        let device = try await client.post("/oauth2/device_authorization", form: Self.credentials)
        let code = try #require(device.member("user_code")).lowercased().replacingOccurrences(of: "-", with: "+")
        for status in [200, 400] {
            #expect(try await client.post("/oauth2/device", form: "user_code=\(code)&name=Ada").status == status)
        }
        let grant = "grant_type=urn:ietf:params:oauth:grant-type:device_code&\(Self.credentials)&device_code="
        let tokens = try await client.post("/oauth2/token", form: grant + #require(device.member("device_code")))
        let token = try #require(tokens.member("access_token"))
        #expect(try await client.get("/users/me", token: token).data(Received.User.self).name == "Ada")
    }

    @Test(.server) func `a fault has the form of the endpoint's errors`() async throws {
        backend.faults = FaultPlan([
            FaultRule("POST", "/oauth2/token", .respond(status: 503, retryAfter: .seconds(3)), times: 1),
            FaultRule("POST", "/oauth2/token", .respond(status: 400, code: "invalid_grant"), times: 1),
        ])
        let busy = try await client.post("/oauth2/token", form: "")
        #expect(busy.status == 503)
        #expect(busy.member("error") == "temporarily_unavailable")
        #expect(busy.header("Retry-After") == "3")
        let refused = try await client.post("/oauth2/token", form: "")
        #expect(refused.status == 400)
        #expect(refused.member("error") == "invalid_grant")
    }
}
