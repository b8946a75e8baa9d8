import DataAPI
import Testing

@testable import ArticlesUI

@MainActor
@Suite(.timeLimit(.minutes(20))) struct ArticleListModelTests {
    let backend = Backend()
    let list: ArticleListModel

    init() {
        list = ArticleListModel(session: .first, banner: nil, services: backend.services, sessionMayHaveEnded: {})
    }

    private func load(_ page: Page<Article>) async {
        backend.pages.standing = .success(page)
        await list.load()
        backend.pages.standing = nil
    }

    @Test func `a list that loads says so, and shows its first page`() async {
        let load = await backend.pages.called { await list.load() }
        #expect(list.phase == .loading)
        #expect(!list.isEmpty)
        await backend.pages.respond(to: 0, with: .fixture(1...3, next: "a"), ending: load)
        #expect(list.phase == .loaded)
        #expect(list.articles.map(\.id) == [.fixture(1), .fixture(2), .fixture(3)])
        #expect(list.hasMore)
    }

    @Test func `a list without articles is empty, not loading`() async {
        await load(Page(items: []))
        #expect(list.isEmpty)
        #expect(!list.hasMore)
    }

    @Test func `a list that failed loads when the user tries again`() async {
        let load = await backend.pages.called { await list.load() }
        await backend.pages.fail(0, with: ScreenError.offline, ending: load)
        #expect(list.phase == .failed(.offline))
        #expect(list.banner == nil, "an empty list shows the error itself")
        let retry = await backend.pages.called { await list.load() }
        #expect(list.phase == .loading)
        await backend.pages.respond(to: 1, with: .fixture(1...1), ending: retry)
        #expect(list.phase == .loaded)
    }

    @Test func `a list that cannot be loaded shows what is stored for the session, with a banner`() async {
        backend.stored[.first] = [.fixture(7)]
        let load = await backend.pages.called { await list.load() }
        #expect(list.articles.map(\.id) == [.fixture(7)])
        await backend.pages.fail(0, with: ScreenError.offline, ending: load)
        #expect(list.articles.map(\.id) == [.fixture(7)])
        #expect(list.banner == .offline)
        backend.pages.standing = .success(.fixture(1...2))
        await list.refresh()
        #expect(list.banner == nil, "a list that has loaded loses it")
        #expect(list.articles.map(\.id) == [.fixture(1), .fixture(2)])
    }

    @Test func `a list never shows what is stored for another session`() async {
        backend.stored[.second] = [.fixture(7)]
        backend.pages.standing = .failure(ScreenError.offline)
        await list.load()
        #expect(list.articles.isEmpty)
    }

    @Test func `a list whose view disappears shows no error, and loads for the next view`() async {
        let load = await backend.pages.called { await list.load() }
        let next = Task { await list.load() }
        load.cancel()
        await backend.pages.calls(atLeast: 2)
        await backend.pages.respond(to: 1, with: .fixture(1...1), ending: load)
        await next.value
        #expect(list.phase == .loaded)
    }

    @Test func `a page that was requested before a refresh does not come back after it`() async {
        await load(.fixture(1...2, next: "a"))
        backend.pages.ignoresCancellation = true
        let more = await backend.pages.called { await list.loadMore() }
        #expect(list.isLoadingMore)
        let refresh = await backend.pages.called { await list.refresh() }
        await backend.pages.respond(to: 2, with: .fixture(10...11), ending: refresh)
        await backend.pages.respond(to: 1, with: .fixture(3...4), ending: more)
        #expect(list.articles.map(\.id) == [.fixture(10), .fixture(11)])
        #expect(!list.isLoadingMore)
    }

    @Test func `the next page is added without repetition, until the end of the list`() async {
        await load(.fixture(1...2, next: "a"))
        let more = await backend.pages.called { await list.loadMore() }
        await backend.pages.respond(to: 1, with: .fixture(2...3), ending: more)
        #expect(list.articles.map(\.id) == [.fixture(1), .fixture(2), .fixture(3)])
        #expect(!list.hasMore)
        await list.loadMore()
        #expect(backend.pages.requests.count == 2)
    }

    @Test func `pages without articles are passed over`() async {
        await load(.fixture(1...1, next: "a"))
        let more = await backend.pages.called { await list.loadMore() }
        await backend.pages.respond(to: 1, with: Page(items: [], nextCursor: .init(rawValue: "b")))
        await backend.pages.calls(atLeast: 3)
        await backend.pages.respond(to: 2, with: .fixture(2...2), ending: more)
        #expect(list.articles.count == 2)
    }

    @Test func `a page that names itself as the next one is the last`() async {
        await load(.fixture(1...1, next: "a"))
        backend.pages.standing = .success(.fixture(2...2, next: "a"))
        await list.loadMore()
        #expect(!list.hasMore)
    }

    @Test func `a next page that failed keeps the articles, and can be tried again`() async {
        await load(.fixture(1...1, next: "a"))
        backend.pages.standing = .failure(ScreenError.offline)
        await list.loadMore()
        #expect(list.moreError == .offline)
        #expect(list.articles.count == 1)
        backend.pages.standing = .success(.fixture(2...2))
        await list.loadMore()
        #expect(list.moreError == nil)
        #expect(list.articles.count == 2)
    }

    @Test func `the next page can be read after a refresh that failed, and the end of the list asks for it`() async {
        await load(.fixture(1...1, next: "a"))
        let revision = list.revision
        backend.pages.standing = .failure(ScreenError.offline)
        await list.refresh()
        #expect(list.banner == .offline)
        #expect(list.revision != revision)
        backend.pages.standing = .success(.fixture(2...2))
        await list.loadMore()
        #expect(list.articles.count == 2)
    }
}
