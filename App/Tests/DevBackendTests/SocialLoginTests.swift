import DevBackend
import Foundation
import Testing

@Suite(.untilStuck) struct SocialLoginTests {
    private func login(_ client: TestClient, provider: String, token: String) async throws -> ReceivedResponse {
        try await client.post("/auth/social/login", json: #"{"provider": "\#(provider)", "token": "\#(token)"}"#)
    }

    @Test(arguments: DevelopmentProvider.names)
    func aProvidersTokenSignsInAndTheSameSubjectIsTheSameUser(provider: String) async throws {
        try await DevBackend.withServer { backend in
            let client = TestClient(backend)
            let issuer = DevelopmentProvider()
            let first = try await login(
                client, provider: provider, token: issuer.token(for: provider, subject: "s-1", name: "Grace"))
            #expect(first.status == 200)
            let user = try first.data(SignedIn.self).user
            #expect(user.name == "Grace")
            #expect(user.profileUrl == nil)

            let again = try await login(
                client, provider: provider, token: issuer.token(for: provider, subject: "s-1", name: "Grace H."))
            #expect(try again.data(SignedIn.self).user == user)
            let other = try await login(
                client, provider: provider, token: issuer.token(for: provider, subject: "s-2", name: "Grace"))
            #expect(try other.data(SignedIn.self).user.id != user.id)
            #expect(backend.statistics.socialLogins == 3)
        }
    }

    @Test func anUnknownProviderIsAnInvalidField() async throws {
        try await DevBackend.withServer { backend in
            let answer = try await login(TestClient(backend), provider: "example", token: "x")
            #expect(answer.status == 400)
            #expect(answer.fields == ["provider"])
        }
    }

    @Test func aTokenThatIsNotTheProvidersIsRefused() async throws {
        let clock = ManualClock()
        var configuration = DevBackend.Configuration()
        configuration.now = { clock.now }
        try await DevBackend.withServer(configuration) { backend in
            let client = TestClient(backend)
            let issuer = DevelopmentProvider()
            let stranger = DevelopmentProvider(signingKey: Data("another key, also known to everybody".utf8))
            let soon = clock.now.addingTimeInterval(60)
            let tokens = [
                "nonsense",
                try await stranger.token(for: "apple", subject: "s", name: "Eve", expiresAt: soon),
                try await issuer.token(for: "kakao", subject: "s", name: "Eve", expiresAt: soon),
                try await issuer.token(for: "apple", subject: "", name: "Eve", expiresAt: soon),
                try await issuer.token(for: "apple", subject: "s", name: "Eve", expiresAt: clock.now),
            ]
            for token in tokens {
                let answer = try await login(client, provider: "apple", token: token)
                #expect(answer.status == 401)
                #expect(answer.code == "PROVIDER_TOKEN_INVALID")
            }
            #expect(backend.statistics.socialLogins == 0)
        }
    }
}
