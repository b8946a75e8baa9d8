import AuthInterface
import AuthTesting
import DataAPI
import DevBackend
import Foundation
import NetworkCore
import Testing
import TokenRefresh

/// S3, S4, S8 and S10: refreshes that fail, and servers that refuse everything.
@Suite(.serialized) struct FailureScenarios {
    static let failures: [(name: String, action: FaultAction)] = [
        ("S3 503 on refresh", .respond(status: 503)),
        ("S3 connection cut on refresh", .closeBeforeHandler),
    ]

    /// A request that comes during the pause after a failure fails at once, so that it is counted with those that
    /// waited; and the pause ends when the test says so.
    private static let impatient: TokenRefreshPolicy = {
        var policy = TokenRefreshPolicy()
        policy.patience = .zero
        return policy
    }()

    @Test(
        "S3: a refresh fails with 100 waiters: one attempt, no logout, and the next request recovers",
        arguments: failures
    )
    func refreshFails(failure: (name: String, action: FaultAction)) async throws {
        let time = ManualTimeSource()
        try await Stage.play(policy: Self.impatient, time: time) { stage in
            stage.backend.faults = FaultPlan([FaultRule("POST", "/auth/refresh", failure.action, times: 1)])
            let before = try await stage.store.load()
            let (gate, requests) = try await stage.refuseAll(100)
            gate.open()
            let failures = await requests.value.compactMap(\.self)
            stage.report(failure.name, failures: failures.count)
            #expect(failures.count == 100)
            #expect(failures.allSatisfy { $0.authentication?.code == .refreshUnavailable })
            #expect(stage.backend.statistics.refreshes.received == 1)
            #expect(stage.events.endings == [])
            #expect(try await stage.store.load() == before)

            time.advance(by: .seconds(1))
            #expect(await stage.send(.me) == nil)
            #expect(stage.backend.statistics.refreshes.received == 2)
            #expect(stage.backend.statistics.refreshes.committed == 1)
        }
    }

    @Test("S4: the refresh token is refused with 100 waiters, then 5 more come: one refresh, one ending")
    func rejected() async throws {
        try await Stage.play { stage in
            let user = try await stage.auth.me()
            _ = try await stage.backend.revokeSessions(ofUser: user.id.rawValue)
            try await stage.backend.expireAccessTokens()
            let failures = await stage.sendAll(100).compactMap(\.self)
            var later: [NetworkError?] = []
            for _ in 0..<5 { later.append(await stage.send(.me)) }
            stage.report("S4", failures: failures.count + later.compactMap(\.self).count)
            #expect(failures.count == 100)
            #expect(later.allSatisfy { $0?.authentication?.code == .notSignedIn })
            #expect(stage.backend.statistics.refreshes.received == 1)
            #expect(stage.events.endings == [.expired])
            #expect(try await stage.store.load() == nil)
        }
    }

    @Test("S8: every answer is 401: one refresh, then unauthorized, and it punishes nobody else", arguments: [1, 20])
    func everythingRefused(count: Int) async throws {
        try await Stage.play(time: ManualTimeSource()) { stage in
            stage.backend.faults = FaultPlan([FaultRule("GET", "/articles/*", .refuseToken)])
            let failures = await stage.sendAll(count).compactMap(\.self)
            stage.report("S8 \(count) requests", failures: failures.count)
            #expect(failures.count == count)
            #expect(failures.allSatisfy { $0.authentication?.code == .unauthorized })
            #expect(stage.backend.statistics.refreshes.received == 1)
            #expect(stage.refusals <= 2 * count)
            #expect(stage.events.endings == [])
            // Others go on with the token that was refused there.
            #expect(await stage.send(.me) == nil)
            // And those who come back are not given another refresh for it.
            #expect(await stage.send(.article(1))?.authentication?.code == .unauthorized)
            #expect(stage.backend.statistics.refreshes.received == 1)
        }
    }

    @Test("S10: the answer is lost after the server has rotated; with a grace window the session recovers")
    func lostAnswerWithGrace() async throws {
        let time = ManualTimeSource()
        try await Stage.play({ $0.rotationGrace = .seconds(60) }, policy: Self.impatient, time: time) { stage in
            try await loseTheAnswer(stage, time)
            #expect(await stage.send(.me) == nil)
            stage.report("S10 with grace", failures: 20)
            #expect(stage.backend.statistics.refreshes == .init(received: 2, committed: 1, replayedByGrace: 1))
            #expect(stage.events.endings == [])
        }
    }

    @Test("S10: without a grace window there is one replay and one ending")
    func lostAnswerWithoutGrace() async throws {
        let time = ManualTimeSource()
        try await Stage.play(policy: Self.impatient, time: time) { stage in
            try await loseTheAnswer(stage, time)
            #expect(await stage.send(.me)?.authentication?.code == .sessionEnded)
            #expect(await stage.send(.me)?.authentication?.code == .notSignedIn)
            stage.report("S10 without grace", failures: 22)
            #expect(stage.backend.statistics.refreshes == .init(received: 2, committed: 1, reuseDetected: 1))
            #expect(stage.events.endings == [.expired])
        }
    }

    private func loseTheAnswer(_ stage: Stage, _ time: ManualTimeSource) async throws {
        stage.backend.faults = FaultPlan([FaultRule("POST", "/auth/refresh", .closeAfterHandler, times: 1)])
        let (gate, requests) = try await stage.refuseAll(20)
        gate.open()
        let failures = await requests.value.compactMap(\.self)
        #expect(failures.count == 20)
        #expect(failures.allSatisfy { $0.authentication?.code == .refreshUnavailable })
        time.advance(by: .seconds(1))
    }
}
