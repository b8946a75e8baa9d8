import DevBackend
import Foundation
import Testing

@Suite(.untilStuck) struct GraceWindowTests {
    private let clock = ManualClock()

    private var configuration: DevBackend.Configuration {
        var configuration = DevBackend.Configuration()
        configuration.now = { [clock] in clock.now }
        configuration.rotationGrace = .seconds(10)
        return configuration
    }

    @Test func withinTheWindowThePredecessorEarnsTheSameSuccessorAgain() async throws {
        try await DevBackend.withServer(configuration) { backend in
            let client = TestClient(backend)
            let signedIn = try await client.signIn()
            let first = try await client.refresh(signedIn.refreshToken).data(Pair.self)
            clock.advance(by: .seconds(10))

            let second = try await client.refresh(signedIn.refreshToken).data(Pair.self)

            #expect(second.refreshToken == first.refreshToken)
            #expect(second.accessToken != first.accessToken)
            #expect(try await client.get("/users/me", token: second.accessToken).status == 200)
            #expect(backend.statistics.refreshes == .init(received: 2, committed: 1, replayedByGrace: 1))
            #expect(try await client.refresh(second.refreshToken).status == 200)
        }
    }

    @Test func afterTheWindowThePredecessorIsReuse() async throws {
        try await DevBackend.withServer(configuration) { backend in
            let client = TestClient(backend)
            let signedIn = try await client.signIn()
            _ = try await client.refresh(signedIn.refreshToken)
            clock.advance(by: .seconds(11))
            #expect(try await client.refresh(signedIn.refreshToken).code == "REFRESH_TOKEN_REUSED")
        }
    }

    @Test func withinTheWindowAnOlderTokenThanThePredecessorIsReuse() async throws {
        try await DevBackend.withServer(configuration) { backend in
            let client = TestClient(backend)
            let signedIn = try await client.signIn()
            let pair = try await client.refresh(signedIn.refreshToken).data(Pair.self)
            let latest = try await client.refresh(pair.refreshToken).data(Pair.self)
            #expect(try await client.refresh(signedIn.refreshToken).code == "REFRESH_TOKEN_REUSED")
            #expect(try await client.refresh(latest.refreshToken).code == "SESSION_REVOKED")
        }
    }

    @Test func aLostAnswerIsRecoveredWithinTheWindow() async throws {
        try await DevBackend.withServer(configuration) { backend in
            let signedIn = try await TestClient(backend).signIn()
            backend.faults = FaultPlan([FaultRule("POST", "/auth/refresh", .closeAfterHandler, times: 1)])
            await #expect(throws: (any Error).self) { try await TestClient(backend).refresh(signedIn.refreshToken) }
            #expect(backend.statistics.refreshes.committed == 1)
            #expect(backend.statistics.count("POST", "/auth/refresh") == 1)

            let pair = try await TestClient(backend).refresh(signedIn.refreshToken).data(Pair.self)

            #expect(backend.statistics.refreshes == .init(received: 2, committed: 1, replayedByGrace: 1))
            #expect(try await TestClient(backend).get("/users/me", token: pair.accessToken).status == 200)
        }
    }

    @Test func manyAtOnceAllEarnTheOneSuccessor() async throws {
        try await DevBackend.withServer(configuration) { backend in
            let client = TestClient(backend)
            let signedIn = try await client.signIn()
            let successors = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await client.refresh(signedIn.refreshToken).data(Pair.self).refreshToken }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(successors.count == 1)
            #expect(backend.statistics.refreshes == .init(received: 20, committed: 1, replayedByGrace: 19))
        }
    }
}
