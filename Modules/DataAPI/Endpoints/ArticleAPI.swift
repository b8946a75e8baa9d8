public import NetworkCore

// The articles (row F4). All calls need authentication, which an endpoint does unless it says otherwise.

extension Endpoint where Response == Page<Article> {
    /// A page of the list, the newest first.
    ///
    /// - Parameters:
    ///   - cursor: Where the page begins; at the first article if left out.
    ///   - limit: The most articles to return, from 1 to 100.
    /// - Returns: The endpoint.
    public static func articles(after cursor: Article.Cursor? = nil, limit: Int = 20) -> Self {
        .get("articles", query: ["cursor": cursor, "limit": limit])
    }
}

extension Endpoint where Response == Article {
    /// One article.
    ///
    /// - Parameter id: Which one.
    /// - Returns: The endpoint.
    public static func article(_ id: Article.ID) -> Self { .get("articles/\(id)") }

    /// Creates an article, once even when the call is sent again: it carries an idempotency key.
    ///
    /// - Parameter draft: The article.
    /// - Returns: The endpoint.
    public static func create(_ draft: ArticleDraft) -> Self { .post("articles", json: draft).idempotent() }

    /// Changes an article of one's own.
    ///
    /// - Parameters:
    ///   - id: Which one.
    ///   - changes: What is to change.
    /// - Returns: The endpoint.
    public static func update(_ id: Article.ID, _ changes: ArticleChanges) -> Self {
        .patch("articles/\(id)", json: changes)
    }
}

extension Endpoint where Response == Void {
    /// Deletes an article of one's own.
    ///
    /// - Parameter id: Which one.
    /// - Returns: The endpoint.
    public static func delete(_ id: Article.ID) -> Self { .delete("articles/\(id)") }
}
