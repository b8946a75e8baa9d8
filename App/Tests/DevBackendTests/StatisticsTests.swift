import DevBackend
import Foundation
import Testing

@Suite(.hangLimit) struct StatisticsTests {
    @Test(.server) func `responses are counted by route and status`() async throws {
        let token = try await client.signIn().accessToken
        for id in [1, 2, 999] { _ = try await client.get("/articles/\(id)", token: token) }
        _ = try await client.get("/nowhere")
        _ = try await client.get("/elsewhere")
        let statistics = backend.statistics
        #expect(statistics.requests == 6)
        #expect(statistics.count("GET", "/articles/{id}") == 3)
        #expect(statistics.count("GET", "/articles/{id}", status: 200) == 2)
        #expect(statistics.count("GET", "/articles/{id}", status: 404) == 1)
        #expect(statistics.count("POST", "/auth/guest/register", status: 201) == 1)
        #expect(statistics.count("GET", "*") == 2)
    }

    @Test(.server) func `the journal has the generation of every token that the server issued`() async throws {
        let signedIn = try await client.signIn()
        let pair = try await client.rotate(signedIn.refreshToken)
        _ = try await client.get("/articles", token: signedIn.accessToken)
        _ = try await client.get("/articles", token: pair.accessToken)
        try await backend.expireAccessTokens()
        _ = try await client.get("/articles", token: pair.accessToken)
        _ = try await client.get("/articles", token: "x")
        _ = try await client.refresh(pair.refreshToken)
        _ = try await client.refresh(signedIn.refreshToken)
        let journal = backend.journal
        #expect(journal.map(\.tokenGeneration) == [nil, 0, 0, 1, 1, nil, 1, 0])
        #expect(journal.map(\.status) == [201, 200, 200, 200, 401, 401, 200, 401])
        #expect(journal.map(\.carriedCredentials) == [false, false, true, true, true, true, false, false])
        #expect(journal.first?.method == "POST")
        #expect(journal.first?.path == "/api/v1/auth/guest/register")
    }

    @Test(.server { $0.dialect.accessTokenField = "X-Custom" })
    func `the journal never contains a token`() async throws {
        let secret = "not-to-be-remembered"
        _ = try await client.get("/n?q=\(secret)", token: secret, headers: ["X-Custom": secret])
        #expect(backend.journal.first?.credentialFields == ["authorization", "x-custom"])
        #expect(!"\(backend.journal)".contains(secret))
    }
}
