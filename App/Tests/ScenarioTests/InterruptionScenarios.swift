import AuthInterface
import DataAPI
import DevBackend
import Foundation
import NetworkCore
import Testing
import TokenRefresh

extension Scenarios {
    /// S5, S6, S7 and S9: cancellation, sign-out, another sign-in, and a redirect to another origin.
    @Suite struct InterruptionScenarios {
        @Test func `S5: the request that started the refresh is cancelled, and the others succeed`() async throws {
            try await TestApp.run { app in
                let gate = app.backend.hold("POST", "/auth/refresh")
                try await app.backend.expireAccessTokens()
                let starter = Task { try await app.network.send(.me) }
                await gate.arrivals(1)
                async let others = app.sendAll(50)
                starter.cancel()
                // The gate is still closed: only a request that does not wait for the refresh can have ended.
                await #expect(throws: CancellationError.self) { _ = try await starter.value }
                gate.open()
                await others.expectSuccess()
                #expect(app.backend.statistics.refreshes == .init(received: 1, committed: 1))
            }
        }

        @Test func `S6: after a sign-out during a refresh nothing is sent with the new token`() async throws {
            try await TestApp.run { app in
                let (gate, requests) = try await app.refuseAll(20, at: .beforeResponse)
                try await app.auth.logout()
                await requests.value.expectAll(failWith: .sessionEnded)
                gate.open()
                await app.events.wait { $0.isResponseDropped }
                #expect(await app.send(.me)?.authentication?.code == .notSignedIn)
                #expect(app.session.state == .signedOut(.byUser))
                #expect(try await app.store.load() == nil)
                #expect(app.backend.statistics.refreshes.committed == 1)
                #expect(!app.backend.journal.contains { $0.tokenGeneration == 1 && !$0.path.contains("/auth/") })
            }
        }

        @Test func `S7: after another sign-in during a refresh the new user's tokens stay`() async throws {
            try await TestApp.run { app in
                let (gate, requests) = try await app.refuseAll(20, at: .beforeResponse)
                try await app.signIn("bob")
                await requests.value.expectAll(failWith: .sessionEnded)
                gate.open()
                await app.events.wait { $0.isResponseDropped }
                #expect(try await app.auth.me().name == "bob")
                // Each of ada's requests reached the server once and was refused; none was sent again with bob's token.
                #expect(app.backend.statistics.count("GET", "/articles/{id}") == 20)
                let stored = try await app.store.load()
                #expect(app.session.state == stored.map { .signedIn($0.session) })
            }
        }

        @Test(
            arguments: [301, 302, 303, 307, 308],
            [TokenPlacement.bearer, .fields(accessToken: "accessToken", refreshToken: "refreshToken")]
        )
        func `S9: no token is sent to the other origin of a redirect, in any field`(
            status: Int, placement: TokenPlacement
        ) async throws {
            try await DevBackend.withServer { elsewhere in
                try await TestApp.run({
                    $0.server.dialect.accessTokenField = "accessToken"
                    $0.authentication = AuthenticationPolicy(placement: placement)
                }) { app in
                    let target = elsewhere.baseURL.appendingPathComponent("articles/1")
                    let action = FaultAction.redirect(to: target, status: status)
                    app.backend.faults = FaultPlan([FaultRule("GET", "/articles/*", action)])
                    _ = await app.send(.article(1))
                    #expect(app.backend.journal.last?.credentialFields.isEmpty == false)
                    #expect(elsewhere.journal.count == 1)
                    #expect(elsewhere.journal.allSatisfy { $0.credentialFields.isEmpty })
                    // A refusal by the other origin of a request without a token causes no refresh.
                    #expect(app.backend.statistics.refreshes.received == 0)
                    #expect(app.events.endings == [])
                }
            }
        }
    }
}
