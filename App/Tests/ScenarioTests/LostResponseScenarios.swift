import AuthInterface
import ContractTesting
import DataAPI
import DevBackend
import Foundation
import NetworkCore
import Testing
import TokenRefresh

extension Scenarios {
    /// S10: the response to a refresh is lost after the rotation.
    @Suite struct LostResponseScenarios {
        /// More than the connections, so that some requests wait for one.
        private static let count = 300

        static let tolerant: [(grace: Duration, replay: ReplayTolerance, handler: TestApp.Handler)] = [
            (.seconds(60), .within(.seconds(60)), .rest), (.zero, .sameKey, .rest), (.zero, .sameKey, .oauth2),
        ]

        @Test(arguments: tolerant)
        func `S10: a tolerated replay is made at once, and no request fails`(
            grace: Duration, replay: ReplayTolerance, handler: TestApp.Handler
        ) async throws {
            try await TestApp.run({
                $0.server.rotationGrace = grace
                $0.replay = replay
                $0.handler = handler
                $0.clock = ManualTimeSource()
            }) { app in
                let failures = try await loseTheResponse(app)
                #expect(failures.isEmpty, "\(failures.first.map(String.init(describing:)) ?? "")")
                let refreshes = app.backend.statistics.refreshes
                #expect(refreshes.received == 2 && refreshes.committed == 1)
                #expect(refreshes.replayedByGrace + refreshes.replayedByKey == 1)
                #expect(app.events.endings == [])
            }
        }

        @Test func `S10: with an undeclared grace window the next request recovers`() async throws {
            let clock = ManualTimeSource()
            try await TestApp.run({
                $0.server.rotationGrace = .seconds(60)
                $0.failFast(with: clock)
            }) { app in
                let failures = try await loseTheResponse(app)
                #expect(
                    failures.map(\.authentication?.code) == Array(repeating: .refreshUnavailable, count: Self.count))
                clock.advance(by: .seconds(1))
                #expect(await app.send(.me) == nil)
                #expect(app.backend.statistics.refreshes == .init(received: 2, committed: 1, replayedByGrace: 1))
                #expect(app.events.endings == [])
            }
        }

        @Test func `S10: without key and grace window there is one replay and one ending`() async throws {
            let clock = ManualTimeSource()
            try await TestApp.run({ $0.failFast(with: clock) }) { app in
                let failures = try await loseTheResponse(app)
                #expect(
                    failures.map(\.authentication?.code) == Array(repeating: .refreshUnavailable, count: Self.count))
                clock.advance(by: .seconds(1))
                #expect(await app.send(.me)?.authentication?.code == .sessionEnded)
                #expect(await app.send(.me)?.authentication?.code == .notSignedIn)
                // Requests may end before the observer is notified.
                await app.events.wait(for: \.isSignedOut)
                #expect(app.backend.statistics.refreshes == .init(received: 2, committed: 1, reuseDetected: 1))
                #expect(app.events.endings == [.expired()])
            }
        }

        /// Sends requests with an expired token, and loses the response of the refresh.
        private func loseTheResponse(_ app: TestApp) async throws -> [NetworkError] {
            app.backend.faults = FaultPlan([FaultRule("POST", app.refreshPath, .closeAfterHandler, times: 1)])
            try await app.backend.expireAccessTokens()
            return await app.sendAll(Self.count).compactMap(\.self)
        }
    }
}
