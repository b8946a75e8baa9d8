import ContractTesting
import DevBackend
import Testing

/// The rotation of refresh tokens, which the scenarios rely on.
@Suite(.hangLimit) struct RefreshTests {
    @Test(.server) func `an unknown token and a missing one are different errors`() async throws {
        #expect(try await client.refresh("never-issued").outcome == "401 REFRESH_TOKEN_INVALID")
        let missing = try await client.post("/auth/refresh", json: "{}")
        #expect(missing.outcome == "400 VALIDATION_FAILED")
        #expect(missing.fields == ["refreshToken"])
        #expect(backend.statistics.refreshes == .init(received: 2, rejected: 2))
    }

    @Test(.server(hasClock: true) { $0.refreshTokenLifetime = .seconds(100) })
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

    @Test(.server(hasClock: true) { $0.rotationGrace = .seconds(10) })
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

    @Test(.server, arguments: ["other", nil])
    func `a spent token with another key or none counts as reuse, and revokes its family`(key: String?) async throws {
        let signedIn = try await client.signIn()
        let bystander = try await client.signIn(name: "Grace")
        let pair = try await client.rotate(signedIn.refreshToken, key: "k1")
        #expect(try await client.refresh(signedIn.refreshToken, key: key).outcome == "401 REFRESH_TOKEN_REUSED")
        #expect(try await client.refresh(pair.refreshToken).code == "SESSION_REVOKED")
        #expect(try await client.get("/users/me", token: pair.accessToken).code == "SESSION_REVOKED")
        #expect(try await client.get("/users/me", token: bystander.accessToken).status == 200)
        #expect(try await client.refresh(signedIn.refreshToken, key: "k1").code == "SESSION_REVOKED")
        #expect(
            backend.statistics.refreshes == .init(received: 4, committed: 1, reuseDetected: 1, rejected: 2))
    }

    @Test(.server) func `an older token with its own key is refused without counting as reuse`() async throws {
        let signedIn = try await client.signIn()
        let second = try await client.rotate(signedIn.refreshToken, key: "k1")
        let third = try await client.rotate(second.refreshToken, key: "k2")
        #expect(try await client.refresh(signedIn.refreshToken, key: "k1").outcome == "401 REFRESH_TOKEN_SUPERSEDED")
        #expect(try await client.get("/users/me", token: third.accessToken).status == 200)
        #expect(try await client.rotate(second.refreshToken, key: "k2") == third)
        #expect(try await client.refresh(third.refreshToken, key: "k3").status == 200)
        #expect(
            backend.statistics.refreshes
                == .init(received: 5, committed: 3, replayedByKey: 1, rejected: 1))
        #expect(try await client.refresh(signedIn.refreshToken, key: "k2").code == "REFRESH_TOKEN_REUSED")
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
        #expect(journal.map(\.credentialFields.isEmpty) == [true, true, false, false, false, false, true, true])
        #expect(journal.first?.method == "POST")
        #expect(journal.first?.path == "/api/v1/auth/guest/register")
    }
}
