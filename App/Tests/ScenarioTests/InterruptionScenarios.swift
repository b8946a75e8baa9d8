import AuthInterface
import DataAPI
import DevBackend
import Foundation
import NetworkCore
import Testing
import TokenRefresh

extension Scenarios {
    /// S5, S6, S7 and S9: a user signs out, another one signs in, and a redirect leads away.
    @Suite struct InterruptionScenarios {
        @Test("S5: the request that started the refresh is cancelled: it returns at once, and the others succeed")
        func starterCancelled() async throws {
            try await Stage.play { stage in
                let gate = stage.backend.hold("POST", "/auth/refresh")
                try await stage.backend.expireAccessTokens()
                let starter = Task { try await stage.network.send(.me) }
                await gate.arrivals(1)
                async let others = stage.sendAll(50)
                starter.cancel()
                // The gate is still closed: only a request that does not wait for the refresh can be over.
                await #expect(throws: CancellationError.self) { _ = try await starter.value }
                gate.open()
                let failures = await others.compactMap(\.self)
                stage.report("S5", failures: failures.count)
                #expect(failures.isEmpty)
                #expect(stage.backend.statistics.refreshes == .init(received: 1, committed: 1))
            }
        }

        @Test(
            "S6: sign-out during a refresh: it stays, in memory and in the store, and nothing is sent with the new token"
        )
        func signOutDuringRefresh() async throws {
            try await Stage.play { stage in
                let (gate, requests) = try await stage.refuseAll(20, at: .beforeResponse)
                try await stage.auth.logout()
                let failures = await requests.value.compactMap(\.self)
                gate.open()
                await stage.events.wait { $0.isResponseDropped }
                #expect(await stage.send(.me)?.authentication?.code == .notSignedIn)
                stage.report("S6", failures: failures.count)
                #expect(failures.count == 20)
                #expect(failures.allSatisfy { $0.authentication?.code == .sessionEnded })
                #expect(stage.session.state == .signedOut(.byUser))
                #expect(try await stage.store.load() == nil)
                #expect(stage.backend.statistics.refreshes.committed == 1)
                let withNewToken = stage.backend.journal.filter {
                    $0.tokenGeneration == 1 && !$0.path.contains("/auth/")
                }
                #expect(withNewToken == [])
            }
        }

        @Test(
            "S7: another sign-in during a refresh: the new user's tokens stay, and no old request is sent as the new user"
        )
        func signInDuringRefresh() async throws {
            try await Stage.play { stage in
                let (gate, requests) = try await stage.refuseAll(20, at: .beforeResponse)
                try await stage.signIn("bob")
                let failures = await requests.value.compactMap(\.self)
                gate.open()
                await stage.events.wait { $0.isResponseDropped }
                stage.report("S7", failures: failures.count)
                #expect(failures.count == 20)
                #expect(failures.allSatisfy { $0.authentication?.code == .sessionEnded })
                #expect(try await stage.auth.me().name == "bob")
                // Each of ada's requests reached the server once, refused; none came back with bob's token.
                #expect(stage.backend.statistics.count("GET", "/articles/{id}") == 20)
                let stored = try await stage.store.load()
                #expect(stage.session.state == stored.map { .signedIn($0.session) })
            }
        }

        static let redirects: [(status: Int, placement: TokenPlacement)] = [301, 302, 303, 307, 308].flatMap { status in
            [(status, .bearer), (status, .fields(accessToken: "accessToken", refreshToken: "refreshToken"))]
        }

        @Test(
            "S9: no token arrives at the origin a redirect leads to, whatever field it travels in", arguments: redirects
        )
        func redirected(redirect: (status: Int, placement: TokenPlacement)) async throws {
            try await DevBackend.withServer { elsewhere in
                try await Stage.play({
                    $0.server.accessTokenField = "accessToken"
                    $0.authentication = AuthenticationPolicy(placement: redirect.placement)
                }) { stage in
                    let target = elsewhere.baseURL.appendingPathComponent("articles/1")
                    let action = FaultAction.redirect(to: target, status: redirect.status)
                    stage.backend.faults = FaultPlan([FaultRule("GET", "/articles/*", action)])
                    let failure = await stage.send(.article(1))
                    stage.report("S9 \(redirect.status)", failures: failure == nil ? 0 : 1)
                    #expect(stage.backend.journal.last?.carriedCredentials == true)
                    #expect(elsewhere.journal.count == 1)
                    #expect(elsewhere.journal.allSatisfy { !$0.carriedCredentials })
                    // That the other origin refuses a request without a token says nothing about ours.
                    #expect(stage.backend.statistics.refreshes.received == 0)
                    #expect(stage.events.endings == [])
                }
            }
        }
    }
}
