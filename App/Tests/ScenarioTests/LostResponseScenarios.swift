import AuthInterface
import AuthTesting
import DataAPI
import DevBackend
import Foundation
import NetworkCore
import Testing
import TokenRefresh

extension Scenarios {
    /// S10: the response to a refresh is lost after the server has rotated.
    @Suite struct LostResponseScenarios {
        private static let count = 1_000

        static let forgiving: [(name: String, grace: Duration, replay: ReplayTolerance, handler: Stage.Handler)] = [
            ("S10 grace window", .seconds(60), .within(.seconds(60)), .rest),
            ("S10 key", .zero, .sameKey, .rest),
            ("S10 key, OAuth 2", .zero, .sameKey, .oauth2),
        ]

        @Test("S10: the server forgives a replay: it is made at once, and no request fails", arguments: forgiving)
        func forgiven(
            _ server: (name: String, grace: Duration, replay: ReplayTolerance, handler: Stage.Handler)
        ) async throws {
            try await Stage.play({
                $0.server.rotationGrace = server.grace
                $0.replay = server.replay
                $0.handler = server.handler
                $0.clock = ManualTimeSource()
            }) { stage in
                let failures = try await loseTheResponse(stage)
                stage.report(server.name, failures: failures.count)
                #expect(failures.isEmpty, "\(failures.first.map(String.init(describing:)) ?? "")")
                let refreshes = stage.backend.statistics.refreshes
                #expect(refreshes.received == 2 && refreshes.committed == 1)
                #expect(refreshes.replayedByGrace + refreshes.replayedByKey == 1)
                #expect(stage.events.endings == [])
            }
        }

        @Test(
            "S10: a grace window that the handler does not declare: the first requests fail, and the next one recovers")
        func undeclaredGrace() async throws {
            let clock = ManualTimeSource()
            try await Stage.play({
                $0.server.rotationGrace = .seconds(60)
                $0.policy = .impatient
                $0.clock = clock
            }) { stage in
                let failures = try await loseTheResponse(stage)
                #expect(failures.count == Self.count)
                #expect(failures.allSatisfy { $0.authentication?.code == .refreshUnavailable })
                clock.advance(by: .seconds(1))
                #expect(await stage.send(.me) == nil)
                stage.report("S10 undeclared grace window", failures: failures.count)
                #expect(stage.backend.statistics.refreshes == .init(received: 2, committed: 1, replayedByGrace: 1))
                #expect(stage.events.endings == [])
            }
        }

        @Test("S10: with neither there is one replay and one ending")
        func unforgiven() async throws {
            let clock = ManualTimeSource()
            try await Stage.play({
                $0.policy = .impatient
                $0.clock = clock
            }) { stage in
                let failures = try await loseTheResponse(stage)
                #expect(failures.count == Self.count)
                #expect(failures.allSatisfy { $0.authentication?.code == .refreshUnavailable })
                clock.advance(by: .seconds(1))
                #expect(await stage.send(.me)?.authentication?.code == .sessionEnded)
                #expect(await stage.send(.me)?.authentication?.code == .notSignedIn)
                // Requests may be answered before the observer is notified.
                await stage.events.wait(for: \.isSignedOut)
                stage.report("S10 with neither", failures: failures.count + 2)
                #expect(stage.backend.statistics.refreshes == .init(received: 2, committed: 1, reuseDetected: 1))
                #expect(stage.events.endings == [.expired()])
            }
        }

        /// Sends requests with an expired token, and loses the response of the refresh.
        ///
        /// - Returns: The failures.
        private func loseTheResponse(_ stage: Stage) async throws -> [NetworkError] {
            stage.backend.faults = FaultPlan([FaultRule("POST", stage.refreshPath, .closeAfterHandler, times: 1)])
            try await stage.backend.expireAccessTokens()
            return await stage.sendAll(Self.count).compactMap(\.self)
        }
    }
}
