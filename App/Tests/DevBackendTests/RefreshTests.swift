import ContractTesting
import DevBackend
import Foundation
import ProgramTesting
import Testing

@Suite(.hangLimit) struct RefreshTests {
    @Test(.server) func `a refresh returns two new tokens, and both work`() async throws {
        let signedIn = try await client.signIn()
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

    @Test(.server) func `an unknown token and a missing one are different errors`() async throws {
        #expect(try await client.refresh("never-issued").outcome == "401 REFRESH_TOKEN_INVALID")
        let missing = try await client.post("/auth/refresh", json: "{}")
        #expect(missing.outcome == "400 VALIDATION_FAILED")
        #expect(missing.fields == ["refreshToken"])
        #expect(backend.statistics.refreshes == .init(received: 2, rejected: 2))
    }

    @Test(.clockedServer { $0.refreshTokenLifetime = .seconds(100) })
    func `an expired token is refused, and each rotation starts a new lifetime`() async throws {
        let signedIn = try await client.signIn()
        clock.advance(by: .seconds(99))
        let pair = try await client.rotate(signedIn.refreshToken)
        clock.advance(by: .seconds(99))
        let next = try await client.rotate(pair.refreshToken)
        clock.advance(by: .seconds(100))
        #expect(try await client.refresh(next.refreshToken).outcome == "401 REFRESH_TOKEN_EXPIRED")
    }

    @Test(.server) func `of many concurrent refreshes with one token exactly one is committed`() async throws {
        let signedIn = try await client.signIn()
        let codes = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<20 { group.addTask { try await client.refresh(signedIn.refreshToken).code } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.filter { $0 == "OK" }.count == 1)
        #expect(codes.filter { $0 == "REFRESH_TOKEN_REUSED" }.count == 1)
        #expect(codes.filter { $0 == "SESSION_REVOKED" }.count == 18)
        #expect(backend.statistics.refreshes.committed == 1)
    }

    @Test func `sessions survive a restart with the same database`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        func configure(_ configuration: inout DevBackend.Configuration) {
            configuration.database = .file(folder.url.appendingPathComponent("backend.sqlite").path)
            configuration.allowsDevEndpoints = true
        }
        let (signedIn, expired) = try await TestClient.withServer(configure) { client in
            let expired = try await client.signIn()
            _ = try await client.post("/dev/expire", json: "{}")
            return (try await client.signIn(), expired)
        }
        try await TestClient.withServer(configure) { client in
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
    @Test(.clockedServer { $0.rotationGrace = .seconds(10) })
    func `within the window the predecessor returns the same successor again`() async throws {
        let signedIn = try await client.signIn()
        let first = try await client.rotate(signedIn.refreshToken)
        clock.advance(by: .seconds(10))
        let second = try await client.rotate(signedIn.refreshToken)
        #expect(second.refreshToken == first.refreshToken)
        #expect(second.accessToken != first.accessToken)
        #expect(try await client.get("/users/me", token: second.accessToken).status == 200)
        #expect(backend.statistics.refreshes == .init(received: 2, committed: 1, replayedByGrace: 1))
        #expect(try await client.refresh(second.refreshToken).status == 200)
    }

    @Test(.clockedServer { $0.rotationGrace = .seconds(10) })
    func `after the window the predecessor counts as reuse, and within it an older token does`() async throws {
        let spent = try await client.signIn().refreshToken
        _ = try await client.refresh(spent)
        clock.advance(by: .seconds(11))
        #expect(try await client.refresh(spent).code == "REFRESH_TOKEN_REUSED")
        let oldest = try await client.signIn().refreshToken
        let latest = try await client.rotate(try await client.rotate(oldest).refreshToken)
        #expect(try await client.refresh(oldest).code == "REFRESH_TOKEN_REUSED")
        #expect(try await client.refresh(latest.refreshToken).code == "SESSION_REVOKED")
    }
}
