import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import DataAPI
import DevBackend
import Foundation
import NetworkCore
import Testing
import TokenRefresh

extension TestApp.Setup {
    /// A request during the pause after a failure fails at once, so that it is counted with those that waited.
    mutating func failFast(with clock: any TimeSource) {
        policy.maximumPauseWait = .zero
        self.clock = clock
    }
}

extension Scenarios {
    /// S3, S4, S8 and S17: refreshes that fail, and servers that refuse everything.
    @Suite struct FailureScenarios {
        @Test(arguments: [FaultAction.respond(status: 503), .closeBeforeHandler], [6, 128])
        func `S3: a refresh fails with 100 waiters: one attempt, no sign-out, and a later recovery`(
            action: FaultAction, connections: Int
        ) async throws {
            let clock = ManualTimeSource()
            try await TestApp.run({
                $0.failFast(with: clock)
                $0.connections = connections
            }) { app in
                app.backend.faults = FaultPlan([FaultRule("POST", "/auth/refresh", action, times: 1)])
                let before = try await app.store.load()
                try await app.backend.expireAccessTokens()
                let failures = await app.sendAll(100)
                failures.expectAll(failWith: .refreshUnavailable)
                #expect(failures.allSatisfy { $0?.authentication?.retryAfter != nil })
                #expect(app.backend.statistics.refreshes.received == 1)
                #expect(app.events.endings == [])
                #expect(try await app.store.load()?.hasSameTokens(as: #require(before)) == true)

                // During the pause a request fails at once, with the remaining pause.
                let early = await app.send(.me)?.authentication
                #expect(early?.code == .refreshUnavailable && early?.retryAfter != nil)
                #expect(app.backend.statistics.refreshes.received == 1)

                clock.advance(by: .seconds(1))
                #expect(await app.send(.me) == nil)
                #expect(app.backend.statistics.refreshes.received == 2)
                #expect(app.backend.statistics.refreshes.committed == 1)
            }
        }

        @Test(arguments: [6, 128])
        func `S3: a closed connection costs one replay where the server knows keys`(connections: Int) async throws {
            try await TestApp.run({
                $0.replay = .sameKey
                $0.clock = ManualTimeSource()
                $0.connections = connections
            }) { app in
                app.backend.faults = FaultPlan([FaultRule("POST", "/auth/refresh", .closeBeforeHandler, times: 1)])
                try await app.backend.expireAccessTokens()
                await app.sendAll(100).expectSuccess()
                #expect(app.backend.statistics.refreshes == .init(received: 2, committed: 1))
            }
        }

        @Test func `S4: the refresh token is rejected with 100 waiters: one refresh, one ending`() async throws {
            try await TestApp.run { app in
                let user = try await app.auth.me()
                try await app.backend.revokeSessions(ofUser: #require(Int64(user.id.rawValue)))
                try await app.backend.expireAccessTokens()
                #expect(await app.sendAll(100).allSatisfy { $0 != nil })
                for _ in 0..<5 { #expect(await app.send(.me)?.authentication?.code == .notSignedIn) }
                // Requests may end before the observer is notified.
                await app.events.wait(for: \.isSignedOut)
                #expect(app.backend.statistics.refreshes.received == 1)
                #expect(app.events.endings == [.expired()])
                #expect(try await app.store.load() == nil)

                let response = try #require(app.backend.journal.last { $0.path.hasSuffix("/auth/refresh") })
                let ending = try #require(app.session.status.lastEnding?.ending)
                #expect(ending.status == 401)
                #expect(ending.code == "SESSION_REVOKED")
                #expect(ending.requestID == response.requestID)
                #expect(ending.date != nil && ending.process != nil)
            }
        }

        /// A response of a gateway or proxy: JSON that is not the envelope, or a page, as a captive portal sends it.
        private static func gateway(_ status: Int, json: String? = nil, page: String? = nil) -> GatewayResponse {
            let type = json.map { _ in "application/json" } ?? page.map { _ in "text/html" }
            return GatewayResponse(status: status, contentType: type, body: json ?? page ?? "")
        }

        static let gateways = [
            gateway(403, json: #"{"message":"Forbidden"}"#), gateway(403),
            gateway(200, page: "<html><body>Sign in to this network.</body></html>"),
            gateway(401, page: "<html><body>Unauthorized</body></html>"),
            gateway(502, page: "<html><body>Bad Gateway</body></html>"), gateway(401),
            gateway(401, json: #"{"message":"Unauthorized"}"#),
        ]

        @Test(arguments: gateways, TestApp.Handler.allCases)
        func `S17: a gateway responds to the refresh: unavailable, and the session stays`(
            response: GatewayResponse, handler: TestApp.Handler
        ) async throws {
            let clock = ManualTimeSource()
            try await TestApp.run({
                $0.failFast(with: clock)
                $0.handler = handler
            }) { app in
                app.backend.faults = FaultPlan([FaultRule("POST", app.refreshPath, .gateway(response), times: 1)])
                try await app.backend.expireAccessTokens()
                await app.sendAll(100).expectAll(failWith: .refreshUnavailable)
                #expect(app.backend.statistics.refreshes.received == 1)
                #expect(app.events.endings == [])

                // After the cool-down of an ambiguous refusal, which is longer than the pause of another failure.
                clock.advance(by: .seconds(31))
                #expect(await app.send(.me) == nil)
                #expect(app.backend.statistics.refreshes == .init(received: 2, committed: 1))
            }
        }
    }
}
