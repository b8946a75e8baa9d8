import AuthInterface
import ContractTesting
import DataAPI
import DevBackend
import Foundation
import NetworkCore
import Testing
import TokenRefresh

extension Scenarios {
    /// S8: servers that refuse every token, and endpoints that do. S25: one that demands a more recent sign-in.
    @Suite struct RefusalScenarios {
        /// Two processes, of which the one that refreshes expires the token of the other.
        private func runStrictly(_ body: (_ first: TestApp, _ second: TestApp) async throws -> Void) async throws {
            func configure(_ setup: inout TestApp.Setup) {
                setup.clock = ManualTimeSource()
                setup.server.faults = FaultPlan(strictRotation: true)
            }
            try await TestApp.run(processes: 2, configure) { try await body($0[0], $0[1]) }
        }

        @Test(arguments: [1, 20])
        func `S8: every response is 401: one refresh, then unauthorized`(count: Int) async throws {
            try await TestApp.run({ $0.clock = ManualTimeSource() }) { app in
                app.backend.faults = FaultPlan([FaultRule(nil, "/articles/*", .refuseToken)])
                await app.sendAll(count).expectAll(failWith: .unauthorized)
                #expect(app.backend.statistics.refreshes.received == 1)
                #expect(app.refusals <= 2 * count)
                #expect(app.events.endings == [])
                // Other endpoints still accept the token that was refused there.
                #expect(await app.send(.me) == nil)
                // A second request to a refusing endpoint causes no refresh.
                #expect(await app.send(.article(1))?.authentication?.code == .unauthorized)
                #expect(app.backend.statistics.refreshes.received == 1)
            }
        }

        @Test(arguments: [1, 2])
        func `S8: an endpoint that always refuses fails its own callers and no other request`(processes: Int)
            async throws
        {
            let clock = ManualTimeSource()
            try await TestApp.run(processes: processes, { $0.clock = clock }) { apps in
                let backend = apps[0].backend
                backend.faults = FaultPlan([FaultRule(nil, "/articles/1", .refuseToken)])
                for app in apps {
                    await app.sendAll(20) { _ in .article(1) }.expectAll(failWith: .unauthorized)
                    await app.sendAll(20) { _ in .me }.expectSuccess()
                }
                // One refresh, and where another process made it, one that verifies it.
                let first = backend.statistics.refreshes.received
                #expect((1...processes).contains(first))
                // Repeated requests to the endpoint fail, and no others do.
                for app in apps {
                    #expect(await app.send(.article(1))?.authentication?.code == .unauthorized)
                    #expect(await app.send(.me) == nil)
                }
                #expect(backend.statistics.refreshes.received == first)

                // Now the tokens have expired, during the cool-down of that endpoint.
                try await backend.expireAccessTokens()
                for app in apps { await app.sendAll(20) { _ in .me }.expectSuccess() }
                #expect(backend.statistics.refreshes.received == first + 1)
                #expect(apps.flatMap(\.events.endings) == [])
            }
        }

        @Test func `419 means expired: one refresh for a burst and for late refusals, and none for a 401`() async throws
        {
            try await TestApp.run({
                $0.server.dialect.expiredTokenStatus = .authenticationTimeout
                $0.authentication.expiredStatuses = [419]
            }) { app in
                let gate = app.backend.hold("GET", "/articles/*", at: .beforeResponse)
                try await app.backend.expireAccessTokens()
                async let late = app.sendAll(5)
                await gate.arrivals(5)
                await app.sendAll(20) { _ in .articles() }.expectSuccess()
                #expect(app.backend.statistics.refreshes == .init(received: 1, committed: 1))
                gate.open()
                await late.expectSuccess()
                #expect(app.backend.statistics.refreshes.received == 1)
                #expect(app.backend.statistics.count("GET", "/articles/{id}", status: 419) == 5)

                app.backend.faults = FaultPlan([FaultRule(nil, "/articles/*", .refuseToken)])
                #expect(await app.send(.article(1))?.status == 401)
                #expect(app.backend.statistics.refreshes.received == 1)
                #expect(app.events.endings == [])
            }
        }

        @Test func `S8: a refused token that another process has replaced is read from the store`() async throws {
            try await runStrictly { first, second in
                try await first.session.refresh()
                // The other process refreshes, so the server refuses the token of the first.
                try await second.session.refresh()
                try await second.session.refresh()
                let refreshes = first.backend.statistics.refreshes.received
                await first.sendAll(20) { _ in .me }.expectSuccess()
                #expect(first.backend.statistics.refreshes.received == refreshes)
            }
        }

        @Test func `S11: a replacement that another process has replaced too is replaced again`() async throws {
            try await runStrictly { first, second in
                let gate = first.backend.hold("GET", "/articles/1")
                async let call = first.send(.article(1))
                await gate.arrivals(1)
                try await first.backend.expireAccessTokens()
                gate.release()
                // The call has been sent again with its replacement.
                await gate.arrivals(2)
                try await second.session.refresh()
                try await second.session.refresh()
                gate.open()
                let failure = await call
                #expect(failure == nil, "\(String(describing: failure))")
                #expect(first.events.endings + second.events.endings == [])
            }
        }

        @Test func `S25: a demanded sign-in refreshes nothing and fails its callers only, until it was made`()
            async throws
        {
            let clock = ManualTimeSource()
            try await TestApp.run({
                $0.clock = clock
                $0.server.accessTokenLifetime = .seconds(86_400)
                $0.server.recentSignIns = ["/articles/7": .seconds(300)]
            }) { app in
                clock.advance(by: .seconds(600))
                let session = app.session.state
                async let demanding = app.sendAll(10) { _ in .article(7) }
                async let others = app.sendAll(90) { .article(Article.ID(1 + $0 % 6)) }
                for failure in await demanding {
                    #expect(failure?.code == .stepUpRequired)
                    #expect(failure?.stepUp?.demand == .userAuthentication)
                    #expect(failure?.stepUp?.maxAge == .seconds(300))
                }
                await others.expectSuccess()
                #expect(app.backend.statistics.refreshes == .init())
                #expect(app.session.state == session)
                // Each was sent once: the engine repeats none of them.
                #expect(app.backend.journal.count { $0.path.hasSuffix("/articles/7") } == 10)

                let token = try DevelopmentProvider().token(
                    for: "apple", subject: "ada", name: "ada", expiresAt: clock.date + 600)
                let signedIn = try await app.unauthenticated.send(.socialLogin(.apple, token: token))
                try await app.session.stepUp(signedIn.tokens.result)
                #expect(app.session.state == session, "the session keeps its identity")
                #expect(try await app.store.load()?.generation == 1)
                await app.sendAll(100) { .article(Article.ID(1 + $0 % 10)) }.expectSuccess()
                #expect(app.backend.statistics.refreshes == .init())
                #expect(app.events.endings == [])
            }
        }
    }
}
