import AuthInterface
import ContractTesting
import DataAPI
import DevBackend
import Foundation
import NetworkCore
import OAuth2Flows
import Testing
import TokenRefresh

extension TokenAudience {
    fileprivate static let profile = TokenAudience("profile")
    fileprivate static let first = TokenAudience("first")
}

extension Scenarios {
    /// Access tokens of several audiences from one refresh token (RFC 8707).
    @Suite struct AudienceScenarios {
        private static let profile = "https://profile.example.com/"
        private static let first = "https://first.example.com/"

        private func run(
            _ clock: ManualTimeSource = ManualTimeSource(), _ body: (TestApp) async throws -> Void
        ) async throws {
            let targets = [TokenAudience.profile: Self.profile, .first: Self.first].compactMapValues(URL.init(string:))
            let resources = try targets.mapValues { try OAuth2Target(resources: [$0]) }
            try await TestApp.run(
                {
                    $0.handler = .oauth2
                    $0.targets = resources
                    $0.server.now = { clock.date }
                    $0.clock = clock
                    $0.server.resources = ["/users/me": Self.profile, "/articles/1": Self.first]
                }, body)
        }

        /// Sends requests of all audiences at once.
        ///
        /// - Returns: The errors.
        private func sendAll(_ app: TestApp, _ count: Int) async -> [any Error] {
            let profile = app.unauthenticated.authenticated(by: app.session.tokens(for: .profile))
            let first = app.unauthenticated.authenticated(by: app.session.tokens(for: .first))
            return await withTaskGroup(of: (any Error)?.self) { group in
                for number in 0..<count {
                    group.addTask {
                        do {
                            switch number % 3 {
                            case 0: _ = try await app.network.send(.article(2))
                            case 1: _ = try await profile.send(.me)
                            default: _ = try await first.send(.article(1))
                            }
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
                return await group.reduce(into: []) { if let error = $1 { $0.append(error) } }
            }
        }

        @Test func `three audiences expire together: three calls, in turn, each with the newest refresh token`()
            async throws
        {
            let clock = ManualTimeSource(date: Date(timeIntervalSince1970: 1_900_000_000))
            try await run(clock) { app in
                #expect(await sendAll(app, 3).isEmpty)
                #expect(app.backend.statistics.refreshes.committed == 2)
                // Refused at once, when they are no longer fresh (G10), and then known to have expired.
                clock.advance(by: .seconds(60))
                try await app.backend.expireAccessTokens()
                #expect(await sendAll(app, 300).isEmpty)
                #expect(app.backend.statistics.refreshes.committed == 5)
                clock.advance(by: app.backend.configuration.accessTokenLifetime)
                #expect(await sendAll(app, 300).isEmpty)
                let counts = app.backend.statistics
                // A refresh token that is used twice, or out of turn, ends the session at this server.
                #expect(counts.refreshes.committed == 8 && counts.refreshes.received == 8)
                #expect(counts.refreshes.reuseDetected == 0)
                #expect(app.events.endings == [])
                let bundle = try await app.store.load()
                #expect(bundle?.generation == 8 && bundle?.audienceTokens.count == 2)
                app.report("audiences", failures: 0)
            }
        }

        @Test func `a token of one audience is refused at the place of another, and never sent there by its client`()
            async throws
        {
            try await run { app in
                let error = await app.send(.article(1))
                #expect(error?.serverError?.code == "TOKEN_FOR_OTHER_RESOURCE")
                #expect(app.events.endings == [])
            }
        }

        @Test func `an audience that the server does not know fails its own requests only`() async throws {
            let unknown = try OAuth2Target(resources: [URL(string: "https://unknown.example.com/")].compactMap(\.self))
            try await TestApp.run({
                $0.handler = .oauth2
                $0.targets = [.profile: unknown]
            }) { app in
                let error = await #expect(throws: AuthenticationError.self) {
                    try await app.session.tokens(for: .profile).token()
                }
                #expect(error?.code == .refreshUnavailable)
                #expect(await app.sendAll(30).allSatisfy { $0 == nil })
                try await app.backend.expireAccessTokens()
                #expect(await app.sendAll(30).allSatisfy { $0 == nil })
                #expect(app.events.endings == [])
            }
        }
    }
}
