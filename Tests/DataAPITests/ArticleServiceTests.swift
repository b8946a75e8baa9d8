import DataAPI
import NetworkCore
import NetworkTestSupport
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
        let expected: [(id: DataAPI.Article.ID?, pages: Int)] = [(9, 1), (8, 1), (7, 2), (nil, 2), (nil, 2)]
        for (id, pages) in expected {
            #expect(try await iterator.next()?.id == id)
            #expect(network.calls.count == pages)
        }
    }

    @Test func `an empty page in the middle does not end the list`() async throws {
        network.on(.articles(), return: Page(items: [], nextCursor: second))
        network.on(.articles(after: second), return: Page(items: [.fixture(7)]))
        #expect(try await articles.all().reduce(0) { count, _ in count + 1 } == 1)
    }

    @Test func `a list that names its own page as the next one ends with an error`() async throws {
        network.on(.articles(), return: Page(items: [.fixture(9)], nextCursor: second))
        network.on(.articles(after: second), return: Page(items: [.fixture(8)], nextCursor: second))
        #expect(await networkError { for try await _ in articles.all() {} }?.code == .decodingFailed)
    }

    @Test func `after an error the same page is requested again`() async throws {
        network.on(.articles(), throw: NetworkError(.connectionFailed))
        network.on(.articles(), return: Page(items: [.fixture(9)]))
        var iterator = articles.all().makeAsyncIterator()
        await #expect(throws: NetworkError.self) { try await iterator.next() }
        #expect(try await iterator.next()?.id == 9)
    }
}
