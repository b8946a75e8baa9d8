import AuthInterface
import AuthTesting
import DataAPI
import DevBackend
import Foundation
import NetworkCore
import Testing
import TokenRefresh

extension TokenRefreshPolicy {
    /// A request that comes during the pause after a failure fails at once, so that it is counted with those that
    /// waited; and the pause ends when the test says so.
    static let impatient: TokenRefreshPolicy = {
        var policy = TokenRefreshPolicy()
        policy.patience = .zero
        return policy
    }()
}

extension Scenarios {
    /// S3, S4, S8 and S17: refreshes that fail, and servers that refuse everything.
    @Suite struct FailureScenarios {
        static let failures: [(name: String, action: FaultAction, connections: Int)] = [6, 128].flatMap { connections in
            [
                ("S3 503 on refresh", .respond(status: 503), connections),
                ("S3 connection cut on refresh", .closeBeforeHandler, connections),
            ]
        }

        @Test(
            "S3: a refresh fails with 100 waiters: one attempt, nobody is signed out, and the next request recovers",
            arguments: failures)
        func refreshFails(failure: (name: String, action: FaultAction, connections: Int)) async throws {
            let clock = ManualTimeSource()
            try await Stage.play({
                $0.policy = .impatient
                $0.clock = clock
                $0.connections = failure.connections
            }) { stage in
                stage.backend.faults = FaultPlan([FaultRule("POST", "/auth/refresh", failure.action, times: 1)])
                let before = try await stage.store.load()
                try await stage.backend.expireAccessTokens()
                let failures = await stage.sendAll(100).compactMap(\.self)
                stage.report("\(failure.name), \(failure.connections) connections", failures: failures.count)
                #expect(failures.count == 100)
                #expect(failures.allSatisfy { $0.authentication?.code == .refreshUnavailable })
                #expect(failures.allSatisfy { $0.authentication?.retryAfter != nil })
                #expect(stage.backend.statistics.refreshes.received == 1)
                #expect(stage.events.endings == [])
                #expect(try await stage.store.load()?.hasSameTokens(as: #require(before)) == true)

                // During the pause a request fails at once, with the time that is left.
                let early = await stage.send(.me)?.authentication
                #expect(early?.code == .refreshUnavailable && early?.retryAfter != nil)
                #expect(stage.backend.statistics.refreshes.received == 1)

                clock.advance(by: .seconds(1))
                #expect(await stage.send(.me) == nil)
                #expect(stage.backend.statistics.refreshes.received == 2)
                #expect(stage.backend.statistics.refreshes.committed == 1)
            }
        }

        @Test(
            "S3: where the server knows keys, a cut connection costs one replay, and all 100 waiters succeed",
            arguments: [6, 128])
        func cutWithKey(connections: Int) async throws {
            try await Stage.play({
                $0.replay = .sameKey
                $0.clock = ManualTimeSource()
                $0.connections = connections
            }) { stage in
                stage.backend.faults = FaultPlan([FaultRule("POST", "/auth/refresh", .closeBeforeHandler, times: 1)])
                try await stage.backend.expireAccessTokens()
                let failures = await stage.sendAll(100).compactMap(\.self)
                stage.report("S3 cut, with a key, \(connections) connections", failures: failures.count)
                #expect(failures.isEmpty)
                #expect(stage.backend.statistics.refreshes == .init(received: 2, committed: 1))
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
                // Requests may be answered before the observer is notified.
                await stage.events.wait(for: \.isSignedOut)
                stage.report("S4", failures: failures.count + later.compactMap(\.self).count)
                #expect(failures.count == 100)
                #expect(later.allSatisfy { $0?.authentication?.code == .notSignedIn })
                #expect(stage.backend.statistics.refreshes.received == 1)
                #expect(stage.events.endings == [.expired()])
                #expect(try await stage.store.load() == nil)

                let response = try #require(stage.backend.journal.last { $0.path.hasSuffix("/auth/refresh") })
                guard case .expired(let ending)? = stage.session.status.lastEnding else {
                    Issue.record("\(String(describing: stage.session.status.lastEnding))")
                    return
                }
                #expect(ending.status == 401)
                #expect(ending.code == "SESSION_REVOKED")
                #expect(ending.requestID == response.requestID)
                #expect(ending.date != nil && ending.process != nil)
            }
        }

        static let gateways: [(name: String, response: GatewayResponse, handler: Stage.Handler)] =
            Stage.Handler.allCases.flatMap { handler in
                [
                    ("403 Forbidden", .forbidden, handler), ("empty 403", .emptyForbidden, handler),
                    ("200 HTML", .page, handler), ("401 HTML", .unauthorizedPage, handler),
                    ("502", .badGateway, handler), ("empty 401, once", .emptyUnauthorized, handler),
                    ("401 that is not the envelope, once", .unauthorized, handler),
                ]
            }

        @Test("S17: a gateway responds to the refresh: unavailable, and the session stays", arguments: gateways)
        func gateway(gateway: (name: String, response: GatewayResponse, handler: Stage.Handler)) async throws {
            let clock = ManualTimeSource()
            try await Stage.play({
                $0.policy = .impatient
                $0.clock = clock
                $0.handler = gateway.handler
            }) { stage in
                stage.backend.faults = FaultPlan([
                    FaultRule("POST", stage.refreshPath, .gateway(gateway.response), times: 1)
                ])
                try await stage.backend.expireAccessTokens()
                let failures = await stage.sendAll(100).compactMap(\.self)
                stage.report("S17 \(gateway.name), \(gateway.handler)", failures: failures.count)
                #expect(failures.count == 100)
                #expect(failures.allSatisfy { $0.authentication?.code == .refreshUnavailable })
                #expect(stage.backend.statistics.refreshes.received == 1)
                #expect(stage.events.endings == [])

                clock.advance(by: .seconds(1))
                #expect(await stage.send(.me) == nil)
                #expect(stage.backend.statistics.refreshes == .init(received: 2, committed: 1))
            }
        }
    }
}
