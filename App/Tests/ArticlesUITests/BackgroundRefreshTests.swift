import AuthInterface
import DataAPI
import Testing

@testable import ArticlesUI

@MainActor
@Suite struct BackgroundRefreshTests {
    let backend = Backend()

    @Test func `the newest articles are stored for the next launch`() async {
        backend.session.set(.signedIn(.first))
        backend.launches.standing = .success(.signedIn(.ada))
        backend.pages.standing = .success(.fixture(1...3))
        await BackgroundRefresh(services: backend.services).run()
        #expect(await backend.cache.articles(of: .first).count == 3)
    }

    @Test func `without a session, or a server, nothing is read and what is stored stays`() async {
        await backend.cache.store([.fixture(7)], of: .first)
        let outcomes: [LaunchOutcome] = [.signedOut(.expired()), .unverified(.ada, .offline)]
        for outcome in outcomes {
            backend.launches.standing = .success(outcome)
            await BackgroundRefresh(services: backend.services).run()
        }
        #expect(backend.pages.requests.isEmpty)
        #expect(await backend.cache.articles(of: .first).map(\.id) == [.fixture(7)])
    }

    @Test func `articles that arrive after the end of their session are not stored`() async {
        backend.session.set(.signedIn(.first))
        backend.launches.standing = .success(.signedIn(.ada))
        let run = Task { await BackgroundRefresh(services: backend.services).run() }
        await backend.pages.calls(atLeast: 1)
        backend.session.set(.signedIn(.second))
        backend.pages.respond(to: 0, with: .fixture(1...2))
        await run.value
        #expect(await backend.cache.articles(of: .first).isEmpty)
        #expect(await backend.cache.articles(of: .second).isEmpty)
    }

    @Test func `a page that cannot be read leaves what is stored`() async {
        await backend.cache.store([.fixture(7)], of: .first)
        backend.session.set(.signedIn(.first))
        backend.launches.standing = .success(.signedIn(.ada))
        backend.pages.standing = .failure(ScreenError.offline)
        await BackgroundRefresh(services: backend.services).run()
        #expect(await backend.cache.articles(of: .first).map(\.id) == [.fixture(7)])
    }
}
