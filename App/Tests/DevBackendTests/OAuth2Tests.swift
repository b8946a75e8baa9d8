import DevBackend
import Testing

@Suite(.hangLimit) struct OAuth2Tests {
    private static let credentials = "client_id=latchkey-dev&client_secret=development-only"

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
        var configuration = DevBackend.Configuration()
        configuration.oauth2Client.secret = secret
        try await DevBackend.withServer(configuration) { backend in
            let http = TestClient(backend)
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
}
