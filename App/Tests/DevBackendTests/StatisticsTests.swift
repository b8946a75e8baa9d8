import DevBackend
import Foundation
import Testing

@Suite(.hangLimit) struct StatisticsTests {
    @Test func `responses are counted by route and status`() async throws {
        try await TestClient.withServer { backend, client in
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
            #expect(statistics.inProgress == 0)
        }
    }

    @Test func `the maximum of concurrent requests is recorded`() async throws {
        try await DevBackend.withServer { backend in
            let gate = backend.hold("GET", "/nowhere")
            try await withThrowingTaskGroup { group in
                for _ in 0..<5 { group.addTask { _ = try await TestClient(backend).get("/nowhere") } }
                await gate.arrivals(5)
                gate.open()
                try await group.waitForAll()
            }
            _ = try await TestClient(backend).get("/nowhere")
            #expect(backend.statistics.maxConcurrent == 5)
        }
    }

    @Test func `the journal has the generation of every token that the server issued`() async throws {
        try await TestClient.withGuest { backend, client, signedIn in
            let pair = try await client.refresh(signedIn.refreshToken).data(Received.TokenPair.self)
            _ = try await client.get("/articles", token: signedIn.accessToken)
            _ = try await client.get("/articles", token: pair.accessToken)
            try await backend.expireAccessTokens()
            _ = try await client.get("/articles", token: pair.accessToken)
            _ = try await client.get("/articles", token: "x")
            _ = try await client.refresh(pair.refreshToken)
            _ = try await client.refresh(signedIn.refreshToken)

            let journal = backend.journal
            #expect(journal.map(\.sequence) == Array(1...8))
            #expect(journal.map(\.tokenGeneration) == [nil, 0, 0, 1, 1, nil, 1, 0])
            #expect(journal.map(\.status) == [201, 200, 200, 200, 401, 401, 200, 401])
            #expect(journal.map(\.carriedCredentials) == [false, false, true, true, true, true, false, false])
            #expect(journal.map(\.arrivedAt) == journal.map(\.arrivedAt).sorted())
            #expect(journal.allSatisfy { $0.arrivedAt <= $0.completedAt ?? 0 })
            #expect(journal.first?.method == "POST")
            #expect(journal.first?.path == "/api/v1/auth/guest/register")
        }
    }

    @Test func `the journal drops the oldest entries, and never contains a token`() async throws {
        var configuration = DevBackend.Configuration()
        configuration.journalCapacity = 3
        configuration.dialect.accessTokenField = "X-Custom"
        try await TestClient.withServer(configuration) { backend, client in
            let secret = "not-to-be-remembered"
            for number in 1...10 {
                _ = try await client.get("/n\(number)?q=\(secret)", token: secret, headers: ["X-Custom": secret])
            }
            #expect(backend.journal.map(\.sequence) == [8, 9, 10])
            #expect(backend.journal.map(\.status) == [404, 404, 404])
            #expect(backend.journal.first?.credentialFields == ["authorization", "x-custom"])
            let written = String(decoding: try JSONEncoder().encode(backend.journal), as: UTF8.self)
            #expect(!written.contains(secret))
        }
    }
}
