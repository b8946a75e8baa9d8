import ContractTesting
import DevBackend
import Foundation
import Testing

@Suite(.hangLimit) struct AccessTokenTests {
    @Test(.server)
    func `a token that the server did not sign is invalid, and a challenge without a token has no error code`()
        async throws
    {
        let none = try await client.get("/articles")
        #expect(none.outcome == "401 UNAUTHENTICATED")
        #expect(none.header("WWW-Authenticate") == #"Bearer realm="latchkey""#)
        let token = try await client.signIn().accessToken
        let tampered = String(token.dropLast(4)) + (token.hasSuffix("AAAA") ? "BBBB" : "AAAA")
        let foreign = try DevelopmentProvider().token(for: "apple", subject: "1", name: "Eve")
        // {"alg":"none"}, then the same claims, then no signature.
        let unsigned = "eyJhbGciOiJub25lIn0." + token.split(separator: ".")[1] + "."
        for token in [tampered, foreign, unsigned, "x"] {
            let response = try await client.get("/articles", token: token)
            #expect(response.outcome == "401 TOKEN_INVALID")
            #expect(response.header("WWW-Authenticate")?.contains(#"error="invalid_token""#) == true)
        }
    }

    @Test(arguments: DevBackend.ExpiredTokenStatus.allCases)
    func `a token expires on time with the configured status`(status: DevBackend.ExpiredTokenStatus) async throws {
        let clock = ManualTimeSource()
        try await TestClient.withServer(
            at: clock, { ($0.accessTokenLifetime, $0.dialect.expiredTokenStatus) = (.seconds(60), status) }
        ) { client in
            let token = try await client.signIn().accessToken
            clock.advance(by: .seconds(59))
            #expect(try await client.get("/articles", token: token).status == 200)
            clock.advance(by: .seconds(1))
            let response = try await client.get("/articles", token: token)
            #expect(response.status == status.rawValue)
            #expect(response.code == "TOKEN_EXPIRED")
            #expect((response.header("WWW-Authenticate") != nil) == (status == .unauthorized))
        }
    }

    @Test(.clockedServer { $0.recentSignIns = ["/articles/*": .seconds(300)] })
    func `a path that needs a recent sign-in gets the challenge of RFC 9470, until another sign-in`() async throws {
        let signedIn = try await client.signIn()
        clock.advance(by: .seconds(300))
        #expect(try await client.get("/articles/1", token: signedIn.accessToken).status == 200)
        clock.advance(by: .seconds(1))
        let pair = try await client.rotate(signedIn.refreshToken)
        let response = try await client.get("/articles/1", token: pair.accessToken)
        #expect(response.outcome == "401 STEP_UP_REQUIRED")
        let challenge = response.header("WWW-Authenticate")
        #expect(challenge?.contains(#"error="insufficient_user_authentication""#) == true)
        #expect(challenge?.hasSuffix(#"max_age="300""#) == true)
        #expect(try await client.get("/articles", token: pair.accessToken).status == 200)
        let again = try await client.signIn().accessToken
        #expect(try await client.get("/articles/1", token: again).status == 200)
    }

    @Test(.server)
    func `expiring all access tokens leaves refresh tokens and later access tokens valid`() async throws {
        let signedIn = try await client.signIn()
        try await backend.expireAccessTokens()
        #expect(try await client.get("/articles", token: signedIn.accessToken).code == "TOKEN_EXPIRED")
        let pair = try await client.rotate(signedIn.refreshToken)
        #expect(try await client.get("/articles", token: pair.accessToken).status == 200)
    }

    @Test(.server { $0.faults.strictRotation = true })
    func `strict rotation expires older access tokens of the same family only`() async throws {
        let signedIn = try await client.signIn()
        let bystander = try await client.signIn(name: "Grace")
        let pair = try await client.rotate(signedIn.refreshToken)
        #expect(try await client.get("/articles", token: signedIn.accessToken).code == "TOKEN_EXPIRED")
        #expect(try await client.get("/articles", token: pair.accessToken).status == 200)
        #expect(try await client.get("/articles", token: bystander.accessToken).status == 200)
    }

    @Test(.server) func `the configured field carries the token, and no other field does`() async throws {
        let usual = try await client.signIn().accessToken
        #expect(try await client.get("/articles", headers: ["accessToken": usual]).code == "UNAUTHENTICATED")
        try await TestClient.withServer({ $0.dialect.accessTokenField = "accessToken" }) { client in
            let token = try await client.signIn().accessToken
            #expect(try await client.get("/articles", headers: ["accessToken": token]).status == 200)
            #expect(try await client.get("/articles", token: token).status == 200)
            #expect(try await client.get("/articles", headers: ["X-Token": token]).code == "UNAUTHENTICATED")
            let both = try await client.get("/articles", token: "x", headers: ["accessToken": token])
            #expect(both.code == "TOKEN_INVALID", "Authorization has precedence")
        }
    }

    @Test(.clockedServer { $0.accessTokenLifetime = .seconds(90) })
    func `a token contains its user and its expiry`() async throws {
        let signedIn = try await client.signIn()
        var payload = String(signedIn.accessToken.split(separator: ".")[1])
            .replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        payload += String(repeating: "=", count: (4 - payload.count % 4) % 4)
        let data = try #require(Data(base64Encoded: payload))
        let claims = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(claims["sub"] as? String == String(signedIn.user.id))
        #expect(claims["gen"] as? Int == 0)
        #expect(claims["epoch"] as? Int == 0)
        #expect(claims["iat"] as? Int == 1_800_000_000)
        #expect(claims["exp"] as? Int == 1_800_000_090)
        #expect(claims["sid"] is String && claims["jti"] is String)
    }
}
