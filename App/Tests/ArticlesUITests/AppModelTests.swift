import AuthInterface
import DataAPI
import Testing

@testable import ArticlesUI

/// The launch, and which screens are shown for which state of the session.
@MainActor
@Suite(.timeLimit(.minutes(20))) struct AppModelTests {
    private let fixture = RunningApp()
    private var backend: Backend { fixture.backend }
    private var app: AppModel { fixture.app }

    @Test func `a launch that waits shows the splash screen`() async {
        let run = await backend.launches.called { await app.run() }
        #expect(app.splash?.phase == .loading)
        run.cancel()
        await run.value
    }

    @Test func `a launch with a valid session shows the user's articles`() async throws {
        await fixture.launch(.signedIn(.ada), state: .signedIn(.first))
        let main = try #require(app.main)
        #expect(main.user == .ada)
        await main.load()
        #expect(main.list.articles.count == 2)
    }

    @Test func `a launch that cannot tell shows what is stored, with a banner`() async throws {
        backend.stored[.first] = [.fixture(7)]
        await fixture.launch(.undetermined(ScreenError.offline), state: .signedIn(.first))
        let main = try #require(app.main)
        #expect(main.list.banner == .offline)
        backend.pages.standing = .failure(ScreenError.offline)
        await main.load()
        #expect(main.list.articles.map(\.id) == [.fixture(7)])
        #expect(main.list.banner == .offline)
    }

    @Test func `a user who is not known at the launch is fetched with the list`() async throws {
        await fixture.launch(.undetermined(ScreenError.offline), state: .signedIn(.first))
        backend.users.standing = .success(.ada)
        try await #require(app.main).load()
        #expect(app.main?.user == .ada)
    }

    @Test func `a launch without a session shows the login, with the reason and without an alert`() async {
        await fixture.launch(.signedOut(.expired()), state: .signedOut(.expired()))
        #expect(app.signIn?.reason == .expired())
        #expect(app.alert == nil)
    }

    @Test func `a launch that failed can be tried again`() async throws {
        backend.launches.standing = .failure(ScreenError("storeUnavailable"))
        let run = Task { await app.run() }
        await until { app.splash?.phase.error != nil }
        backend.session.set(.signedIn(.first))
        backend.launches.standing = .success(.signedIn(.ada))
        try await #require(app.splash).launch()
        #expect(app.main?.user == .ada)
        run.cancel()
    }

    @Test func `a launch that cannot read the store is a failure, not a login`() async throws {
        backend.launches.standing = .success(.undetermined(ScreenError("storeUnavailable")))
        try await #require(app.splash).launch()
        #expect(app.splash?.phase.error?.code == "storeUnavailable")
    }

    @Test func `a launch whose task is cancelled shows no error`() async throws {
        let splash = try #require(app.splash)
        let launch = await backend.launches.called { await splash.launch() }
        launch.cancel()
        await launch.value
        #expect(splash.phase == .idle)
    }

    @Test func `a session that ends during the launch shows the login`() async {
        await fixture.launch(.signedIn(.ada), state: .signedOut(.expired()))
        #expect(app.signIn?.reason == .expired())
    }

    @Test func `a sign-in of another process at the login screen opens its session`() async {
        await fixture.launch(.signedOut(.never), state: .signedOut(.never))
        backend.session.set(.signedIn(.first))
        await until { app.main != nil }
        #expect(app.main?.user == nil)
    }

    @Test func `a user who signs out sees the login without an alert`() async {
        await fixture.launch(.signedIn(.ada), state: .signedIn(.first))
        let taps = [Task { await app.signOut() }, Task { await app.signOut() }]
        for tap in taps { await tap.value }
        #expect(app.signIn?.reason == .byUser)
        #expect(app.alert == nil)
        #expect(backend.session.signOutCount == 1)
    }

    @Test func `a sign-out whose tokens stay says so at the login`() async {
        await fixture.launch(.signedIn(.ada), state: .signedIn(.first))
        backend.session.failSignOut(with: ScreenError("storeUnavailable"))
        await app.signOut()
        #expect(app.signIn?.signOutError?.code == "storeUnavailable")
    }

    @Test func `the newest articles are read for the next launch`() async {
        backend.launches.standing = .success(.signedIn(.ada))
        backend.pages.standing = .success(.fixture(1...3))
        await BackgroundRefresh(services: backend.services).run()
        #expect(backend.pages.requests == [nil])
    }

    @Test func `without a session, or a server, nothing is read`() async {
        let outcomes: [AutoLogin] = [.signedOut(.expired()), .undetermined(ScreenError.offline)]
        for outcome in outcomes {
            backend.launches.standing = .success(outcome)
            await BackgroundRefresh(services: backend.services).run()
        }
        #expect(backend.pages.requests.isEmpty)
    }
}
