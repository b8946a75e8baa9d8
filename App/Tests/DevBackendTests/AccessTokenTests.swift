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

    @Test(.server(hasClock: true) { $0.accessTokenLifetime = .seconds(60) })
    func `a token expires on time, with a challenge`() async throws {
        let token = try await client.signIn().accessToken
        clock.advance(by: .seconds(59))
        #expect(try await client.get("/articles", token: token).status == 200)
        clock.advance(by: .seconds(1))
        let response = try await client.get("/articles", token: token)
        #expect(response.outcome == "401 TOKEN_EXPIRED")
        #expect(response.header("WWW-Authenticate") != nil)
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

    @Test(.server(hasClock: true))
    func `an unknown provider, and a token that one did not issue for this server, are refused`() async throws {
        let issuer = DevelopmentProvider()
        let otherIssuer = DevelopmentProvider(signingKey: Data("another key, not that of the server".utf8))
        let soon = clock.date.addingTimeInterval(60)
        let tokens = [
            "nonsense",
            try otherIssuer.token(for: "apple", subject: "s", name: "Eve", expiresAt: soon),
            try issuer.token(for: "kakao", subject: "s", name: "Eve", expiresAt: soon),
            try issuer.token(for: "apple", subject: "", name: "Eve", expiresAt: soon),
            try issuer.token(for: "apple", subject: "s", name: "Eve", expiresAt: clock.date),
        ]
        for token in tokens {
            #expect(try await client.logIn(token: token).outcome == "401 PROVIDER_TOKEN_INVALID")
        }
        let unknown = try await client.logIn("example", token: "x")
        #expect(unknown.status == 400 && unknown.fields == ["provider"])
        #expect(backend.statistics.socialLogins == 0)
    }
}
