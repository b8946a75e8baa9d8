package import AuthInterface
package import DataAPI

/// Reads articles.
package protocol ArticleReading: Sendable {
    /// Fetches a page of the list, newest first.
    func page(after cursor: Article.Cursor?, limit: Int) async throws -> Page<Article>

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

/// The articles that a session has shown, for a start without a network. One session never gets those of another one.
package protocol ArticleCache: Sendable {
    /// The stored articles of a session, newest first; none if there are none or they cannot be read.
    func articles(of session: SessionID) async -> [Article]

    /// Stores the articles of a session in place of all that is stored.
    func store(_ articles: [Article], of session: SessionID) async

    /// Removes the articles of a session, if they are stored.
    func remove(of session: SessionID) async
}

/// Keeps the articles for the lifetime of the process.
package actor MemoryArticleCache: ArticleCache {
    private var stored: (session: SessionID, articles: [Article])?

    package init() {}

    package func articles(of session: SessionID) -> [Article] {
        stored?.session == session ? stored?.articles ?? [] : []
    }

    package func store(_ articles: [Article], of session: SessionID) {
        stored = (session, articles)
    }

    package func remove(of session: SessionID) {
        if stored?.session == session { stored = nil }
    }
}
