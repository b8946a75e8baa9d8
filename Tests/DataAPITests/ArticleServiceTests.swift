import DataAPI
import NetworkCore
import NetworkTesting
import NetworkTransfers
import Testing

@Suite(.timeLimit(.minutes(10))) struct ArticleServiceTests {
    private let network = StubNetworkService()
    private var articles: ArticleService { ArticleService(network: network) }
    private let second = Article.Cursor(rawValue: "second")

    @Test func `one article is fetched by its identifier`() async throws {
        network.on(.article(7), return: .fixture(7, title: "Hello"))
        #expect(try await articles.article(7).title == "Hello")
    }

    @Test func `all articles are read in order, and a page is fetched when its first article is read`() async throws {
        network.on(.articles(), return: Page(items: [.fixture(9), .fixture(8)], nextCursor: second))
        network.on(.articles(after: second), return: Page(items: [.fixture(7)]))
        var iterator = articles.all().makeAsyncIterator()
        #expect(network.calls.isEmpty)
        let expected: [(id: Article.ID?, pages: Int)] = [(9, 1), (8, 1), (7, 2), (nil, 2), (nil, 2)]
        for (id, pages) in expected {
            #expect(try await iterator.next()?.id == id)
            #expect(network.calls.count == pages)
        }
    }
}
