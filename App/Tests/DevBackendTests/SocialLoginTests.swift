import DevBackend
import Foundation
import Testing

@Suite(.hangLimit) struct SocialLoginTests {
    private func login(_ client: TestClient, provider: String, token: String) async throws -> Received.Response {
        try await client.post("/auth/social/login", json: #"{"provider": "\#(provider)", "token": "\#(token)"}"#)
    }

    @Test(arguments: DevelopmentProvider.names)
    func `a provider's token signs in, and the same subject is the same user`(provider: String) async throws {
        try await TestClient.withServer { backend, client in
            let issuer = DevelopmentProvider()
            let first = try await login(
                client, provider: provider, token: issuer.token(for: provider, subject: "s-1", name: "Grace"))
            #expect(first.status == 200)
            let user = try first.data(Received.SignedIn.self).user
            #expect(user.name == "Grace")
            #expect(user.profileUrl == nil)

            let again = try await login(
                client, provider: provider, token: issuer.token(for: provider, subject: "s-1", name: "Grace H."))
            #expect(try again.data(Received.SignedIn.self).user == user)
            let other = try await login(
                client, provider: provider, token: issuer.token(for: provider, subject: "s-2", name: "Grace"))
            #expect(try other.data(Received.SignedIn.self).user.id != user.id)
            #expect(backend.statistics.socialLogins == 3)
        }
    }

    @Test func `an unknown provider, and a token that one did not issue for this server, are refused`() async throws {
        let clock = ManualClock()
        try await TestClient.withServer(at: clock) { backend, client in
            let issuer = DevelopmentProvider()
            let otherIssuer = DevelopmentProvider(signingKey: Data("another key, not that of the server".utf8))
            let soon = clock.now.addingTimeInterval(60)
            let tokens = [
                "nonsense",
                try otherIssuer.token(for: "apple", subject: "s", name: "Eve", expiresAt: soon),
                try issuer.token(for: "kakao", subject: "s", name: "Eve", expiresAt: soon),
                try issuer.token(for: "apple", subject: "", name: "Eve", expiresAt: soon),
                try issuer.token(for: "apple", subject: "s", name: "Eve", expiresAt: clock.now),
            ]
            for token in tokens {
                let response = try await login(client, provider: "apple", token: token)
                #expect(response.status == 401)
                #expect(response.code == "PROVIDER_TOKEN_INVALID")
            }
            let unknown = try await login(client, provider: "example", token: "x")
            #expect(unknown.status == 400 && unknown.fields == ["provider"])
            #expect(backend.statistics.socialLogins == 0)
        }
    }
}
