public import NetworkCore
public import NetworkTransfers

/// Reads and writes articles.
public struct ArticleService: Sendable {
    private let network: any NetworkService

    /// Creates the service.
    ///
    /// - Parameter network: An authenticated client, or a test double.
    public init(network: any NetworkService) {
        self.network = network
    }

    /// Fetches a page of the list, newest first.
    ///
    /// - Parameters:
    ///   - cursor: The start of the page; `nil` is the first article.
    ///   - limit: The maximum number of articles, from 1 to 100.
    /// - Returns: The page.
    /// - Throws: `NetworkError`, or `CancellationError`.
    public func page(after cursor: Article.Cursor? = nil, limit: Int = 20) async throws -> Page<Article> {
        try await network.send(.articles(after: cursor, limit: limit))
    }

    /// All articles, newest first. A page is fetched when its first article is read.
    ///
    /// - Parameter pageSize: The number of articles in a page, from 1 to 100.
    /// - Returns: The articles. Reading them throws `NetworkError`, or `CancellationError`.
    public func all(pageSize: Int = 20) -> PagedSequence<Article, Article.Cursor> {
        PagedSequence { [network] cursor in
            let page = try await network.send(.articles(after: cursor, limit: pageSize))
            return (page.items, next: page.nextCursor)
        }
    }

    /// Fetches an article.
    ///
    /// - Parameter id: Its identifier.
    /// - Returns: The article.
    /// - Throws: `NetworkError`, with status 404 if there is no such article; `CancellationError`.
    public func article(_ id: Article.ID) async throws -> Article {
        try await network.send(.article(id))
    }

    /// Creates an article. What the client sends again, and another call with the same key, creates no second one.
    ///
    /// - Parameters:
    ///   - draft: The content.
    ///   - key: The key by which the server knows a call that is made again. `nil`: a new one for each call.
    /// - Returns: The article as the server has stored it.
    /// - Throws: `NetworkError`, or `CancellationError`. The article may have been created.
    @discardableResult
    public func create(_ draft: ArticleDraft, key: String? = nil) async throws -> Article {
        let call = Endpoint.create(draft)
        return try await network.send(key.map(call.idempotent(key:)) ?? call)
    }

    /// Changes an article of the signed-in user.
    ///
    /// - Parameters:
    ///   - id: Its identifier.
    ///   - changes: The changes.
    /// - Returns: The changed article.
    /// - Throws: `NetworkError`, or `CancellationError`.
    @discardableResult
    public func update(_ id: Article.ID, _ changes: ArticleChanges) async throws -> Article {
        try await network.send(.update(id, changes))
    }

    /// Deletes an article of the signed-in user.
    ///
    /// - Parameter id: Its identifier.
    /// - Throws: `NetworkError`, or `CancellationError`.
    public func delete(_ id: Article.ID) async throws {
        try await network.send(.delete(id))
    }
}
