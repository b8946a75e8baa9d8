import ContractTesting
import DevBackend
import Foundation
import Testing

@Suite(.hangLimit) struct SocialLoginTests {
    @Test(.server, arguments: DevelopmentProvider.names)
    func `a provider's token signs in, and the same subject is the same user`(provider: String) async throws {
        let issuer = DevelopmentProvider()
        func logIn(_ subject: String, _ name: String = "Grace") async throws -> Received.Response {
            try await client.logIn(provider, token: issuer.token(for: provider, subject: subject, name: name))
        }
        let first = try await logIn("s-1")
        #expect(first.status == 200)
        let user = try first.data(Received.SignedIn.self).user
        #expect(user.name == "Grace")
        #expect(user.profileUrl == nil)
        #expect(try await logIn("s-1", "Grace H.").data(Received.SignedIn.self).user == user)
        #expect(try await logIn("s-2").data(Received.SignedIn.self).user.id != user.id)
        #expect(backend.statistics.socialLogins == 3)
    }

    @Test(.clockedServer)
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
