package import AuthInterface
package import DataAPI

/// Reads articles.
package protocol ArticleReading: Sendable {
    /// Fetches a page of the list, newest first.
    func page(after cursor: Article.Cursor?, limit: Int) async throws -> Page<Article>

    /// The first page as the session has last read it, newest first, without contact to the server; none if it is not
    /// stored. One session never gets that of another one.
    func storedPage(of session: SessionID, limit: Int) async -> [Article]

    /// Fetches an article.
    func article(_ id: Article.ID) async throws -> Article
}

/// Writes articles.
package protocol ArticleWriting: Sendable {
    /// Creates an article. With a key that the server has seen, it returns the article of the first call.
    ///
    /// - Parameters:
    ///   - draft: The content.
    ///   - key: Identifies this attempt to publish.
    /// - Returns: The article as the server has stored it.
    /// - Throws: ``ScreenError``, or `CancellationError`. The article may have been created.
    func create(_ draft: ArticleDraft, key: String) async throws -> Article
}
