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
    /// S24: the refresh returns another subject's tokens, as from a cache between the server and the application.
    @Suite struct SubjectScenarios {
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
                app.backend.faults = FaultPlan([
                    FaultRule("POST", "/auth/refresh", .gateway(try await Self.response(for: bob)), times: 1)
                ])
                let ada = app.session.state
                try await app.backend.expireAccessTokens()
                let failures = await app.sendAll(100).compactMap(\.self)
                if replay == .sameKey {
                    #expect(failures.isEmpty, "\(failures.first.map(String.init(describing:)) ?? "")")
                } else {
                    #expect(failures.map(\.authentication?.code) == Array(repeating: .refreshUnavailable, count: 100))
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
        private static func response(for other: TestApp) async throws -> GatewayResponse {
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
