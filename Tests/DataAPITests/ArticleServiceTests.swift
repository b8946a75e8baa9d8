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

    @Test func `all articles are read page by page, in order`() async throws {
        network.on(.articles(), return: Page(items: [.fixture(9), .fixture(8)], nextCursor: second))
        network.on(.articles(after: second), return: Page(items: [.fixture(7)]))
        let ids = try await articles.all().reduce(into: []) { $0.append($1.id) }
        #expect(ids == [9, 8, 7])
    }

    @Test func `a page is fetched when its first article is read`() async throws {
        network.on(.articles(), return: Page(items: [.fixture(9), .fixture(8)], nextCursor: second))
        network.on(.articles(after: second), return: Page(items: [.fixture(7)]))
        var iterator = articles.all().makeAsyncIterator()
        #expect(network.calls.isEmpty)
        _ = try await iterator.next()
        _ = try await iterator.next()
        #expect(network.calls.count == 1)
        _ = try await iterator.next()
        #expect(network.calls.count == 2)
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
        #expect(network.calls.count == 2)
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
