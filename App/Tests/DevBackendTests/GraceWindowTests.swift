import DevBackend
import Foundation
import Testing

@Suite(.hangLimit) struct GraceWindowTests {
    private let clock = ManualClock()

    private var configuration: DevBackend.Configuration {
        var configuration = DevBackend.Configuration()
        configuration.now = { [clock] in clock.now }
        configuration.rotationGrace = .seconds(10)
        return configuration
    }

    @Test func `within the window the predecessor returns the same successor again`() async throws {
        try await DevBackend.withServer(configuration) { backend in
            let client = TestClient(backend)
            let signedIn = try await client.signIn()
            let first = try await client.refresh(signedIn.refreshToken).data(Received.TokenPair.self)
            clock.advance(by: .seconds(10))

            let second = try await client.refresh(signedIn.refreshToken).data(Received.TokenPair.self)

            #expect(second.refreshToken == first.refreshToken)
            #expect(second.accessToken != first.accessToken)
            #expect(try await client.get("/users/me", token: second.accessToken).status == 200)
            #expect(backend.statistics.refreshes == .init(received: 2, committed: 1, replayedByGrace: 1))
            #expect(try await client.refresh(second.refreshToken).status == 200)
        }
    }

    @Test func `after the window the predecessor counts as reuse`() async throws {
        try await DevBackend.withServer(configuration) { backend in
            let client = TestClient(backend)
            let signedIn = try await client.signIn()
            _ = try await client.refresh(signedIn.refreshToken)
            clock.advance(by: .seconds(11))
            #expect(try await client.refresh(signedIn.refreshToken).code == "REFRESH_TOKEN_REUSED")
        }
    }

    @Test func `within the window a token older than the predecessor counts as reuse`() async throws {
        try await DevBackend.withServer(configuration) { backend in
            let client = TestClient(backend)
            let signedIn = try await client.signIn()
            let pair = try await client.refresh(signedIn.refreshToken).data(Received.TokenPair.self)
            let latest = try await client.refresh(pair.refreshToken).data(Received.TokenPair.self)
            #expect(try await client.refresh(signedIn.refreshToken).code == "REFRESH_TOKEN_REUSED")
            #expect(try await client.refresh(latest.refreshToken).code == "SESSION_REVOKED")
        }
    }

    @Test func `a lost response is recovered within the window`() async throws {
        try await DevBackend.withServer(configuration) { backend in
            let signedIn = try await TestClient(backend).signIn()
            backend.faults = FaultPlan([FaultRule("POST", "/auth/refresh", .closeAfterHandler, times: 1)])
            await #expect(throws: (any Error).self) { try await TestClient(backend).refresh(signedIn.refreshToken) }
            #expect(backend.statistics.refreshes.committed == 1)
            #expect(backend.statistics.count("POST", "/auth/refresh") == 1)

            let pair = try await TestClient(backend).refresh(signedIn.refreshToken).data(Received.TokenPair.self)

            #expect(backend.statistics.refreshes == .init(received: 2, committed: 1, replayedByGrace: 1))
            #expect(try await TestClient(backend).get("/users/me", token: pair.accessToken).status == 200)
        }
    }

    @Test func `many concurrent refreshes all return the one successor`() async throws {
        try await DevBackend.withServer(configuration) { backend in
            let client = TestClient(backend)
            let signedIn = try await client.signIn()
            let successors = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await client.refresh(signedIn.refreshToken).data(Received.TokenPair.self).refreshToken
                    }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(successors.count == 1)
            #expect(backend.statistics.refreshes == .init(received: 20, committed: 1, replayedByGrace: 19))
        }
    }
}
