import ContractTesting
import DevBackend
import Foundation
import ProgramTesting
import Testing

@Suite(.hangLimit) struct RefreshTests {
    @Test func `a refresh returns two new tokens, and both work`() async throws {
        try await TestClient.withGuest { backend, client, signedIn in
            let response = try await client.refresh(signedIn.refreshToken)
            #expect(response.status == 200)
            #expect(response.header("Cache-Control") == "no-store")
            let pair = try response.data(Received.TokenPair.self)
            #expect(pair.accessToken != signedIn.accessToken)
            #expect(pair.refreshToken != signedIn.refreshToken)
            #expect(try await client.get("/users/me", token: pair.accessToken).status == 200)
            #expect(try await client.get("/users/me", token: signedIn.accessToken).status == 200)
            #expect(try await client.refresh(pair.refreshToken).status == 200)
            #expect(backend.statistics.refreshes == .init(received: 2, committed: 2))
        }
    }

    @Test func `an unknown token and a missing one are different errors`() async throws {
        try await TestClient.withServer { backend, client in
            #expect(try await client.refresh("never-issued").outcome == "401 REFRESH_TOKEN_INVALID")
            let missing = try await client.post("/auth/refresh", json: "{}")
            #expect(missing.outcome == "400 VALIDATION_FAILED")
            #expect(missing.fields == ["refreshToken"])
            #expect(backend.statistics.refreshes == .init(received: 2, rejected: 2))
        }
    }

    @Test func `an expired token is refused, and each rotation starts a new lifetime`() async throws {
        let clock = ManualTimeSource()
        try await TestClient.withGuest(
            at: clock, { $0.refreshTokenLifetime = .seconds(100) }
        ) { _, client, signedIn in
            clock.advance(by: .seconds(99))
            let pair = try await client.rotate(signedIn.refreshToken)
            clock.advance(by: .seconds(99))
            let next = try await client.rotate(pair.refreshToken)
            clock.advance(by: .seconds(100))
            #expect(try await client.refresh(next.refreshToken).outcome == "401 REFRESH_TOKEN_EXPIRED")
        }
    }

    @Test func `of many concurrent refreshes with one token exactly one is committed`() async throws {
        try await TestClient.withGuest { backend, client, signedIn in
            let codes = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<20 { group.addTask { try await client.refresh(signedIn.refreshToken).code } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(codes.filter { $0 == "OK" }.count == 1)
            #expect(codes.filter { $0 == "REFRESH_TOKEN_REUSED" }.count == 1)
            #expect(codes.filter { $0 == "SESSION_REVOKED" }.count == 18)
            #expect(backend.statistics.refreshes.committed == 1)
        }
    }

    @Test func `sessions survive a restart with the same database`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let database = DevBackend.DatabaseLocation.file(folder.url.appendingPathComponent("backend.sqlite").path)
        let (signedIn, expired) = try await TestClient.withServer({ $0.database = database }) { backend, client in
            let expired = try await client.signIn()
            try await backend.expireAccessTokens()
            return (try await client.signIn(), expired)
        }
        try await TestClient.withServer({ $0.database = database }) { _, client in
            let token = signedIn.accessToken
            #expect(try await client.get("/users/me", token: token).status == 200)
            #expect(try await client.get("/users/me", token: expired.accessToken).code == "TOKEN_EXPIRED")
            #expect(try await client.refresh(signedIn.refreshToken).status == 200)
            let page = try await client.get("/articles?limit=100", token: token).data(Received.Page.self)
            #expect(page.items.count == 12, "the articles are seeded once")
        }
    }
}

@Suite(.hangLimit) struct GraceWindowTests {
    private let clock = ManualTimeSource()

    private func withGuest(_ body: (DevBackend, TestClient, Received.SignedIn) async throws -> Void) async throws {
        try await TestClient.withGuest(at: clock, { $0.rotationGrace = .seconds(10) }, body)
    }

    @Test func `within the window the predecessor returns the same successor again`() async throws {
        try await withGuest { backend, client, signedIn in
            let first = try await client.rotate(signedIn.refreshToken)
            clock.advance(by: .seconds(10))
            let second = try await client.rotate(signedIn.refreshToken)
            #expect(second.refreshToken == first.refreshToken)
            #expect(second.accessToken != first.accessToken)
            #expect(try await client.get("/users/me", token: second.accessToken).status == 200)
            #expect(backend.statistics.refreshes == .init(received: 2, committed: 1, replayedByGrace: 1))
            #expect(try await client.refresh(second.refreshToken).status == 200)
        }
    }

    @Test func `after the window the predecessor counts as reuse, and within it an older token does`() async throws {
        try await withGuest { _, client, signedIn in
            _ = try await client.refresh(signedIn.refreshToken)
            clock.advance(by: .seconds(11))
            #expect(try await client.refresh(signedIn.refreshToken).code == "REFRESH_TOKEN_REUSED")
        }
        try await withGuest { _, client, signedIn in
            let pair = try await client.rotate(signedIn.refreshToken)
            let latest = try await client.rotate(pair.refreshToken)
            #expect(try await client.refresh(signedIn.refreshToken).code == "REFRESH_TOKEN_REUSED")
            #expect(try await client.refresh(latest.refreshToken).code == "SESSION_REVOKED")
        }
    }
}
