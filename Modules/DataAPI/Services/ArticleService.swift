public import NetworkCore
public import NetworkTransfers

/// Reads and writes articles.
public struct ArticleService: Sendable {
    private let network: any NetworkService

    /// Creates the service over an authenticated client, or a test double.
    public init(network: any NetworkService) { self.network = network }

    /// Fetches a page of the list, newest first: from a cursor, or the first article, with 1 to 100 articles.
    ///
    /// - Throws: `NetworkError`, or `CancellationError`.
    public func page(after cursor: Article.Cursor? = nil, limit: Int = 20) async throws -> Page<Article> {
        try await network.send(.articles(after: cursor, limit: limit))
    }

    /// All articles, newest first, in pages of 1 to 100. A page is fetched when its first article is read, which throws
    /// `NetworkError` or `CancellationError`.
    public func all(pageSize: Int = 20) -> PagedSequence<Article, Article.Cursor> {
        PagedSequence { [network] cursor in
            let page = try await network.send(.articles(after: cursor, limit: pageSize))
            return (page.items, next: page.nextCursor)
        }
    }

    /// Fetches an article.
    ///
    /// - Throws: `NetworkError`, with status 404 if there is no such article; `CancellationError`.
    public func article(_ id: Article.ID) async throws -> Article { try await network.send(.article(id)) }

    /// Creates an article, and returns it as the server has stored it. What the client sends again, and another call
    /// with the same key, creates no second one; `nil` is a new key for each call.
    ///
    /// - Throws: `NetworkError`, or `CancellationError`. The article may have been created.
    @discardableResult
    public func create(_ draft: ArticleDraft, key: String? = nil) async throws -> Article {
        let call = Endpoint.create(draft)
        return try await network.send(key.map(call.idempotent(key:)) ?? call)
    }

    /// Changes an article of the signed-in user.
    ///
    /// - Throws: `NetworkError`, or `CancellationError`.
    @discardableResult
    public func update(_ id: Article.ID, _ changes: ArticleChanges) async throws -> Article {
        try await network.send(.update(id, changes))
    }

    /// Deletes an article of the signed-in user.
    ///
    /// - Throws: `NetworkError`, or `CancellationError`.
    public func delete(_ id: Article.ID) async throws { try await network.send(.delete(id)) }
}
