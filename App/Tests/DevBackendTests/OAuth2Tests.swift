import DevBackend
import Foundation
import Testing

@Suite(.untilStuck) struct OAuth2Tests {
    private let client = "client_id=latchkey-dev&client_secret=development-only"
    private let basic = ["Authorization": "Basic " + Data("latchkey-dev:development-only".utf8).base64EncodedString()]

    @Test func aRefreshGrantRotatesTheSameFamilies() async throws {
        var configuration = DevBackend.Configuration()
        configuration.accessTokenLifetime = .seconds(90)
        try await DevBackend.withServer(configuration) { backend in
            let http = TestClient(backend)
            let signedIn = try await http.signIn()
            let form = "grant_type=refresh_token&refresh_token=\(signedIn.refreshToken)"

            let answer = try await http.post("/oauth2/token", form: form, headers: basic)

            #expect(answer.status == 200)
            #expect(answer.header("Cache-Control") == "no-store")
            #expect(answer.member("token_type") == "Bearer")
            #expect(answer.member("expires_in") == "90")
            #expect(answer.member("success") == nil)
            let access = try answer.member("access_token").required("an access token")
            #expect(try await http.get("/users/me", token: access).status == 200)

            let next = try answer.member("refresh_token").required("a refresh token")
            let body = "grant_type=refresh_token&refresh_token=\(next)&\(client)"
            #expect(try await http.post("/oauth2/token", form: body).status == 200)
            #expect(backend.statistics.refreshes == .init(received: 2, committed: 2))
            #expect(try await http.refresh(signedIn.refreshToken).code == "REFRESH_TOKEN_REUSED")
        }
    }

    @Test(arguments: [
        ("grant_type=refresh_token", 400, "invalid_request"),
        ("refresh_token=x", 400, "invalid_request"),
        ("grant_type=refresh_token&refresh_token=", 400, "invalid_request"),
        ("grant_type=refresh_token&refresh_token=x&refresh_token=x", 400, "invalid_request"),
        ("grant_type=refresh_token&refresh_token=%FF", 400, "invalid_request"),
        ("grant_type=password&username=x", 400, "unsupported_grant_type"),
        ("grant_type=refresh_token&refresh_token=never-issued", 400, "invalid_grant"),
    ])
    func aRefusalIsTheWordOfTheSpecification(form: String, status: Int, error: String) async throws {
        try await DevBackend.withServer { backend in
            let answer = try await TestClient(backend).post("/oauth2/token", form: "\(form)&\(client)")
            #expect(answer.status == status)
            #expect(answer.member("error") == error)
            #expect(answer.header("Cache-Control") == "no-store")
            #expect(backend.statistics.refreshes == .init(received: 1, rejected: 1))
        }
    }

    @Test(arguments: ["", "&client_id=latchkey-dev", "&client_id=latchkey-dev&client_secret=guess", "&client_id=x"])
    func aClientThatDoesNotProveItselfInTheBodyIsRefused(credentials: String) async throws {
        try await DevBackend.withServer { backend in
            let form = "grant_type=refresh_token&refresh_token=x\(credentials)"
            let answer = try await TestClient(backend).post("/oauth2/token", form: form)
            #expect(answer.status == 400)
            #expect(answer.member("error") == "invalid_client")
            #expect(answer.header("WWW-Authenticate") == nil)
        }
    }

    // Over a raw connection: URLSession on Linux never returns from a Basic challenge.
    @Test(arguments: ["Basic bGF0Y2hrZXktZGV2Omd1ZXNz", "Basic !", "Bearer x", "Basic"])
    func aClientThatDoesNotProveItselfByHeaderIsChallenged(authorization: String) async throws {
        try await DevBackend.withServer { backend in
            let form = "grant_type=refresh_token&refresh_token=x"
            let connection = try await RawConnection.open(to: backend)
            try await connection.send(
                "POST /api/v1/oauth2/token HTTP/1.1\r\nHost: localhost\r\nAuthorization: \(authorization)\r\n"
                    + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(form.utf8.count)\r\n\r\n"
                    + form)
            let answer = await connection.receive(until: "invalid_client")
            #expect(answer.hasPrefix("HTTP/1.1 401 "))
            #expect(answer.contains("\r\nWWW-Authenticate: Basic "))
            try await connection.close()
        }
    }

    @Test func aClientProvesItselfInOneWayOnly() async throws {
        try await DevBackend.withServer { backend in
            let form = "grant_type=refresh_token&refresh_token=x&\(client)"
            let answer = try await TestClient(backend).post("/oauth2/token", form: form, headers: basic)
            #expect(answer.status == 400)
            #expect(answer.member("error") == "invalid_request")
        }
    }

    @Test func revokingEitherTokenEndsTheFamily() async throws {
        try await DevBackend.withServer { backend in
            let http = TestClient(backend)
            let first = try await http.signIn()
            let second = try await http.signIn()
            for token in [first.refreshToken, second.accessToken, "never-issued", first.refreshToken] {
                let answer = try await http.post("/oauth2/revoke", form: "token=\(token)&token_type_hint=x&\(client)")
                #expect(answer.status == 200)
                #expect(answer.data.isEmpty)
            }
            #expect(try await http.get("/users/me", token: first.accessToken).code == "SESSION_REVOKED")
            #expect(try await http.refresh(second.refreshToken).code == "SESSION_REVOKED")
            #expect(backend.statistics.logouts == 2)
            #expect(try await http.post("/oauth2/revoke", form: "token=x").status == 400)
        }
    }

    @Test func aFaultSpeaksTheEndpointsLanguage() async throws {
        var configuration = DevBackend.Configuration()
        configuration.faults = FaultPlan([
            FaultRule("POST", "/oauth2/token", .respond(status: 503, retryAfter: .seconds(3)), times: 1),
            FaultRule("POST", "/oauth2/token", .respond(status: 400, code: "invalid_grant"), times: 1),
        ])
        try await DevBackend.withServer(configuration) { backend in
            let http = TestClient(backend)
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
