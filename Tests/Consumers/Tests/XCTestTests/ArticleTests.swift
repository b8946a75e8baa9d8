import AuthInterface
import AuthTesting
import DataAPI
import NetworkCore
import NetworkDoubles
import XCTest

/// The doubles in tests of XCTest, as a team that has not moved to Swift Testing writes them.
final class ArticleTests: XCTestCase {
    private let article = Article(id: 7, title: "Hello", content: "World")

    func testShowsTheArticle() async throws {
        let network = StubNetworkService { XCTFail("\($0)", file: $0.file, line: $0.line) }
        network.on(.article(7), return: article)
        let shown = try await ArticleService(network: network).article(7)
        XCTAssertEqual(shown.title, "Hello")
    }

    func testStartsWithTheLoginAfterTheEndOfTheSession() async throws {
        let session = StubSession()
        session.on(.refresh) { $0.state = .signedOut(.expired()) }
        let network = StubNetworkService { XCTFail("\($0)", file: $0.file, line: $0.line) }
        let service = AuthService(unauthenticated: network, network: network, session: session)
        guard case .signedOut(let reason) = try await service.autoLogin() else { return XCTFail("signed in") }
        XCTAssertTrue(reason.isExpired)
        XCTAssertEqual(session.calls, [.restore, .refresh])
    }
}
