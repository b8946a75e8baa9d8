import AuthInterface
import Foundation
import NetworkCore
import NetworkTesting
import Testing

/// The samples of the documentation: tests of a data module, without a server.
@Suite(.timeLimit(.minutes(10))) struct DocumentedSamplesTests {
    @Test func `the service returns the article`() async throws {
        let network = StubNetworkService()
        network.on(.article(7), return: .fixture(title: "Hello"))
        #expect(try await ArticleService(network: network).article(7).title == "Hello")
    }

    @Test(.stubs(.get("articles") ~> .status(401), .get("articles") ~> .json([Article.fixture(title: "Hello")])))
    func `a refused request is sent once more`() async throws {
        let url = try #require(URL(string: "https://api.example.com"))
        let network = NetworkClient(baseURL: url, transport: StubTransport.current).authenticated(by: Tokens())
        #expect(try await ArticleService(network: network).articles() == [.fixture(title: "Hello")])
    }
}

private struct Article: Codable, Hashable {
    var id: Int
    var title: String

    static func fixture(id: Int = 7, title: String) -> Article { Article(id: id, title: title) }
}

extension Endpoint where Response == Article {
    fileprivate static func article(_ id: Int) -> Self { .get("articles/\(id)") }
}

extension Endpoint where Response == [Article] {
    fileprivate static func articles() -> Self { .get("articles") }
}

private struct ArticleService {
    let network: any NetworkService

    func article(_ id: Int) async throws -> Article { try await network.send(.article(id)) }
    func articles() async throws -> [Article] { try await network.send(.articles()) }
}

private struct Tokens: TokenProvider {
    func token() async throws -> SessionToken {
        SessionToken(value: "access-0", session: SessionID(rawValue: "session"), generation: 0)
    }

    func replacement(after refusal: TokenRefusal) async throws -> SessionToken {
        SessionToken(value: "access-1", session: refusal.token.session, generation: 1)
    }
}
