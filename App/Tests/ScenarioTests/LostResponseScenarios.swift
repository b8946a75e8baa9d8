import AuthInterface
import ContractTesting
import DataAPI
import DevBackend
import Foundation
import NetworkCore
import Storage
import Testing
import TokenRefresh

extension Scenarios {
    /// S10: the response to a refresh is lost after the rotation. S24: it has another subject's tokens, as from a cache
    /// between the server and the application.
    @Suite struct LostResponseScenarios {
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
                try await loseTheResponse(app).expectSuccess()
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
                try await loseTheResponse(app).expectAll(failWith: .refreshUnavailable)
                clock.advance(by: .seconds(1))
                #expect(await app.send(.me) == nil)
                #expect(app.backend.statistics.refreshes == .init(received: 2, committed: 1, replayedByGrace: 1))
                #expect(app.events.endings == [])
            }
        }

        @Test func `S10: without key and grace window there is one replay and one ending`() async throws {
            let clock = ManualTimeSource()
            try await TestApp.run({ $0.failFast(with: clock) }) { app in
                try await loseTheResponse(app).expectAll(failWith: .refreshUnavailable)
                clock.advance(by: .seconds(1))
                #expect(await app.send(.me)?.authentication?.code == .sessionEnded)
                #expect(await app.send(.me)?.authentication?.code == .notSignedIn)
                // Requests may end before the observer is notified.
                await app.events.wait(for: \.isSignedOut)
                #expect(app.backend.statistics.refreshes == .init(received: 2, committed: 1, reuseDetected: 1))
                #expect(app.events.endings == [.expired()])
            }
        }

        /// Sends requests with an expired token, and loses the response of the refresh. The requests are more than the
        /// connections, so that some wait for one.
        private func loseTheResponse(_ app: TestApp) async throws -> [NetworkError?] {
            app.backend.faults = FaultPlan([FaultRule("POST", app.refreshPath, .closeAfterHandler, times: 1)])
            try await app.backend.expireAccessTokens()
            return await app.sendAll(300)
        }

        @Test(arguments: [ReplayTolerance.sameKey, .none])
        func `S24: another subject's tokens are dropped, not revoked, and count as a lost response`(
            replay: ReplayTolerance
        ) async throws {
            let clock = ManualTimeSource()
            try await TestApp.run({
                $0.failFast(with: clock)
                $0.replay = replay
            }) { app in
                let bob = TestApp(app.backend, app.setup, store: MemoryTokenStore())
                try await bob.signIn("bob")
                let response = FaultAction.gateway(try await Self.signInResponse(of: bob))
                app.backend.faults = FaultPlan([FaultRule("POST", "/auth/refresh", response, times: 1)])
                let ada = app.session.state
                try await app.backend.expireAccessTokens()
                if replay == .sameKey {
                    await app.sendAll(100).expectSuccess()
                } else {
                    await app.sendAll(100).expectAll(failWith: .refreshUnavailable)
                    clock.advance(by: .seconds(1))
                    #expect(await app.send(.me) == nil)
                }
                #expect(try await app.auth.me().name == "ada")
                #expect(app.session.state == ada)
                #expect(app.events.count(\.isOtherSubjectIgnored) == 1)
                #expect(app.events.endings == [])
                // The first one ended at the cache.
                #expect(app.backend.statistics.refreshes == .init(received: 2, committed: 1))
                // Nothing of bob's was revoked, and no request was sent as bob.
                #expect(app.backend.statistics.logouts == 0)
                let stored = try #require(try await bob.store.load())
                #expect(try await app.store.load()?.accessToken != stored.accessToken)
                try await bob.session.refresh()
                #expect(try await bob.auth.me().name == "bob")
            }
        }

        /// The response to a sign-in or a refresh of another user, as the server has sent it to them.
        private static func signInResponse(of other: TestApp) async throws -> GatewayResponse {
            let bundle = try #require(try await other.store.load())
            let user = try await other.auth.me()
            let body = """
                {"success":true,"data":{"accessToken":"\(bundle.accessToken)","refreshToken":"\(
                    bundle.refreshToken ?? "")","user":{"id":\(user.id),"name":"\(user.name)"}}}
                """
            return GatewayResponse(status: 200, contentType: "application/json", body: body)
        }
    }
}
