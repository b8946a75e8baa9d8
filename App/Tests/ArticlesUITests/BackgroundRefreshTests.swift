import AuthInterface
import Testing

@testable import ArticlesUI

@MainActor
@Suite struct BackgroundRefreshTests {
    let backend = Backend()

    @Test func `the newest articles are read for the next launch`() async {
        backend.launches.standing = .success(.signedIn(.ada))
        backend.pages.standing = .success(.fixture(1...3))
        await BackgroundRefresh(services: backend.services).run()
        #expect(backend.pages.requests == [nil])
    }

    @Test func `without a session, or a server, nothing is read`() async {
        let outcomes: [LaunchOutcome] = [.signedOut(.expired()), .unverified(.ada, .offline)]
        for outcome in outcomes {
            backend.launches.standing = .success(outcome)
            await BackgroundRefresh(services: backend.services).run()
        }
        #expect(backend.pages.requests.isEmpty)
    }
}
