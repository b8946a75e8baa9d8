import AuthInterface
package import DataAPI
import Observation

/// The list of articles: pages, refresh, and what is stored when the server cannot be reached.
@Observable
@MainActor
package final class ArticleListModel {
    /// The articles, newest first. None is in the list twice.
    package private(set) var articles: [Article] = []

    package private(set) var phase = LoadPhase.idle

    /// Whether the articles are older than the newest request: the screen shows a banner with this error.
    package private(set) var banner: ScreenError?

    package private(set) var isLoadingMore = false

    /// The error of the next page. The articles before it stay.
    package private(set) var moreError: ScreenError?

    package var hasMore: Bool { next != nil }

    /// Whether the server has no articles.
    package var isEmpty: Bool { phase == .loaded && articles.isEmpty && next == nil }

    /// Changes when the end of the list is another one: a view that shows the end then loads the next page.
    package private(set) var revision = 0

    private var next: Article.Cursor?
    @ObservationIgnored private let call = ModelCall()
    private let session: SessionID
    private let services: ScreenServices
    private let sessionMayHaveEnded: () -> Void

    static let pageSize = 20

    /// The most pages without an article that one request for more reads.
    private static let emptyPageLimit = 10

    init(
        session: SessionID, banner: ScreenError?, services: ScreenServices, sessionMayHaveEnded: @escaping () -> Void
    ) {
        self.session = session
        self.banner = banner
        self.services = services
        self.sessionMayHaveEnded = sessionMayHaveEnded
    }

    /// Loads the first page, unless it is there. Articles that are stored are shown until it arrives.
    package func load() async {
        guard phase != .loaded else { return }
        await call.join { [self] in await loadFirstPage($0) }
    }

    /// Loads the first page again. A page that was requested before does not count any more.
    package func refresh() async {
        await call.refresh { [self] in await loadFirstPage($0) }
    }

    /// Loads the next page, also after a refresh that failed.
    package func loadMore() async {
        guard phase != .loading, next != nil else { return }
        await call.join { [self] in await loadNextPage($0) }
    }

    /// Shows a new article of the user at the top.
    func insert(_ article: Article) {
        articles = [article] + articles.filter { $0.id != article.id }
    }

    /// The session is over: its articles are not shown any more, and no late page either.
    func close() {
        call.cancel()
        articles = []
        next = nil
        banner = nil
        moreError = nil
        isLoadingMore = false
        phase = .idle
    }

    private func loadFirstPage(_ ticket: ModelCall.Ticket) async {
        let before = phase == .loading ? .idle : phase
        phase = .loading
        isLoadingMore = false
        defer { if ticket.isCurrent { revision += 1 } }
        if articles.isEmpty {
            let stored = await services.articles.storedPage(of: session, limit: Self.pageSize)
            guard ticket.isCurrent else { return }
            articles = Self.withoutRepetition(stored)
        }
        do {
            let page = try await services.articles.page(after: nil, limit: Self.pageSize)
            guard ticket.isCurrent else { return }
            articles = Self.withoutRepetition(page.items)
            next = page.nextCursor
            banner = nil
            moreError = nil
            phase = .loaded
        } catch let error where error.isCancellation {
            if ticket.isCurrent { phase = before }
        } catch {
            guard let error = ticket.failure(error, sessionMayHaveEnded) else { return }
            banner = articles.isEmpty ? nil : error
            phase = .failed(error)
        }
    }

    private func loadNextPage(_ ticket: ModelCall.Ticket) async {
        isLoadingMore = true
        moreError = nil
        do {
            for _ in 0..<Self.emptyPageLimit {
                guard let cursor = next else { break }
                let page = try await services.articles.page(after: cursor, limit: Self.pageSize)
                guard ticket.isCurrent else { return }
                let before = articles.count
                articles = Self.withoutRepetition(articles + page.items)
                // A page that names itself as the next one would be read indefinitely.
                next = page.nextCursor == cursor ? nil : page.nextCursor
                if articles.count > before { break }
            }
            isLoadingMore = false
            revision += 1
        } catch {
            guard ticket.isCurrent else { return }
            isLoadingMore = false
            guard !error.isCancellation else { return }
            moreError = ticket.failure(error, sessionMayHaveEnded)
        }
    }

    private static func withoutRepetition(_ articles: [Article]) -> [Article] {
        var seen: Set<Article.ID> = []
        return articles.filter { seen.insert($0.id).inserted }
    }
}
