import AuthInterface
import ContractTesting
import DataAPI
import DevBackend
import Foundation
import NetworkCore
import Testing
import TokenRefresh

extension Scenarios {
    /// S25: one endpoint demands a more recent sign-in in a burst of requests.
    @Suite struct StepUpScenarios {
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
                let (failures, succeeded) = (await demanding.compactMap(\.self), await others)
                #expect(failures.count == 10)
                for failure in failures {
                    #expect(failure.code == .stepUpRequired)
                    #expect(failure.stepUp?.demand == .userAuthentication)
                    #expect(failure.stepUp?.maxAge == .seconds(300))
                }
                #expect(succeeded.allSatisfy { $0 == nil })
                #expect(app.backend.statistics.refreshes == .init())
                #expect(app.session.state == session)
                // Each was sent once: the engine repeats none of them.
                #expect(app.backend.journal.count { $0.path.hasSuffix("/articles/7") } == 10)

                let provider = app.backend.configuration.provider
                let token = try provider.token(for: "apple", subject: "ada", name: "ada", expiresAt: clock.date + 600)
                let signedIn = try await app.unauthenticated.send(.socialLogin(.apple, token: token))
                try await app.session.stepUp(signedIn.tokens.result)
                #expect(app.session.state == session, "the session keeps its identity")
                #expect(try await app.store.load()?.generation == 1)
                #expect(await app.sendAll(100) { .article(Article.ID(1 + $0 % 10)) }.allSatisfy { $0 == nil })
                #expect(app.backend.statistics.refreshes == .init())
                #expect(app.events.endings == [])
            }
        }
    }
}
