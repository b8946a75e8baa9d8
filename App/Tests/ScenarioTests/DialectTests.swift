import AuthInterface
import DataAPI
import DevBackend
import NetworkCore
import Testing
import TokenRefresh

/// A client's flow, from login to sign-out, against each dialect of the server.
@Suite(.timeLimit(.minutes(20))) struct DialectTests {
    /// A burst of requests, all of which succeed after one refresh.
    private func expectOneRefresh(_ app: TestApp, sourceLocation: SourceLocation = #_sourceLocation) async {
        let before = app.backend.statistics.refreshes
        await app.sendAll(20) { _ in .articles() }.expectSuccess(sourceLocation: sourceLocation)
        let after = app.backend.statistics.refreshes
        #expect(after.received - before.received == 1, sourceLocation: sourceLocation)
        #expect(after.committed - before.committed == 1, sourceLocation: sourceLocation)
    }

    @Test func `419 means expired: one refresh for a burst and for late refusals, and none for a 401`() async throws {
        try await TestApp.run({ $0.speak { $0.expiredTokenStatus = .authenticationTimeout } }) { app in
            let gate = app.backend.hold("GET", "/articles/*", at: .beforeResponse)
            try await app.backend.expireAccessTokens()
            async let late = app.sendAll(5)
            await gate.arrivals(5)
            await expectOneRefresh(app)
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

    @Test func `token fields: each request has both tokens, a refresh needs both, and a launch refreshes once`()
        async throws
    {
        try await TestApp.run({ $0.speak { $0 = .tokenFields } }) { app in
            try await app.backend.expireAccessTokens()
            await expectOneRefresh(app)
            let credentials = app.backend.journal.filter { !$0.path.hasSuffix("/login") }.map(\.credentialFields)
            #expect(credentials.allSatisfy { $0 == ["accesstoken", "refreshtoken"] })

            let launch = TestApp(app.backend, app.setup, store: app.store)
            let refreshes = app.backend.statistics.refreshes.committed
            #expect(try await launch.auth.autoLogin().user?.name == "ada")
            #expect(app.backend.statistics.refreshes.committed == refreshes + 1)
        }
    }

    @Test func `token fields: a launch without a server keeps the session, and a rejection leads to the login screen`()
        async throws
    {
        try await TestApp.run({ $0.speak { $0 = .tokenFields } }) { app in
            app.backend.faults = FaultPlan([FaultRule(nil, "/**", .closeBeforeHandler)])
            let offline = TestApp(app.backend, app.setup, store: app.store)
            #expect(try await offline.auth.autoLogin().isUndetermined, "an unreachable server must decide nothing")
            #expect(try await app.store.load() != nil)

            app.backend.faults = .none
            try await app.backend.revokeSessions(ofUser: 2)
            let rejected = TestApp(app.backend, app.setup, store: app.store)
            #expect(try await rejected.auth.autoLogin().ending != nil)
            #expect(try await app.store.load() == nil)
        }
    }

    @Test func `a sign-out without a server deletes the tokens`() async throws {
        try await TestApp.run { app in
            app.backend.faults = FaultPlan([FaultRule(nil, "/**", .closeBeforeHandler)])
            try await app.auth.logout()
            #expect(app.session.state == .signedOut(.byUser))
            #expect(try await app.store.load() == nil)
            #expect(app.backend.statistics.logouts == 0)
        }
    }
}

extension AutoLogin {
    fileprivate var user: User? { if case .signedIn(let user) = self { user } else { nil } }
    fileprivate var isUndetermined: Bool { if case .undetermined = self { true } else { false } }
    fileprivate var ending: SessionEnding? { if case .signedOut(let reason) = self { reason.ending } else { nil } }
}
