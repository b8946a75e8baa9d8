public import NetworkCore

/// The articles, over any network.
public struct ArticleService: Sendable {
    private let network: any NetworkService

    /// Creates the service.
    ///
    /// - Parameter network: Sends the calls; an authenticated client outside tests.
    public init(network: any NetworkService) {
        self.network = network
    }

    /// One page of the list, the newest first.
    ///
    /// - Parameters:
    ///   - cursor: Where the page begins; at the first article if left out.
    ///   - limit: The most articles to return, from 1 to 100.
    /// - Returns: The page.
    /// - Throws: `NetworkError`, or `CancellationError`.
    public func page(after cursor: Article.Cursor? = nil, limit: Int = 20) async throws -> Page<Article> {
        try await network.send(.articles(after: cursor, limit: limit))
    }

    /// All articles, the newest first. Nothing is fetched before it is read; the next page follows the last article
    /// of the one before.
    ///
    /// - Parameter pageSize: How many articles to fetch at a time, from 1 to 100.
    /// - Returns: The articles. Reading them throws `NetworkError`, or `CancellationError`.
    public func all(pageSize: Int = 20) -> PagedSequence<Article> {
        PagedSequence { [network] cursor in
            try await network.send(.articles(after: cursor, limit: pageSize))
        }
    }

    /// One article.
    ///
    /// - Parameter id: Which one.
    /// - Returns: The article.
    /// - Throws: `NetworkError`, with status 404 where there is none; `CancellationError`.
    public func article(_ id: Article.ID) async throws -> Article {
        try await network.send(.article(id))
    }

    /// Creates an article, once even when the call has to be sent again.
    ///
    /// - Parameter draft: The article.
    /// - Returns: The article as the server keeps it.
    /// - Throws: `NetworkError`, or `CancellationError`: then the article may have been created all the same.
    @discardableResult
    public func create(_ draft: ArticleDraft) async throws -> Article {
        try await network.send(.create(draft))
    }

    /// Changes an article of one's own.
    ///
    /// - Parameters:
    ///   - id: Which one.
    ///   - changes: What is to change.
    /// - Returns: The article as it is now.
    /// - Throws: `NetworkError`, or `CancellationError`.
    @discardableResult
    public func update(_ id: Article.ID, _ changes: ArticleChanges) async throws -> Article {
        try await network.send(.update(id, changes))
    }

    /// Deletes an article of one's own.
    ///
    /// - Parameter id: Which one.
    /// - Throws: `NetworkError`, or `CancellationError`.
    public func delete(_ id: Article.ID) async throws {
        try await network.send(.delete(id))
    }
}
