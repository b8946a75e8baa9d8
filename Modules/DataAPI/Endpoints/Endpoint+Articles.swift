public import NetworkCore

// The articles. Every call needs authentication, which is the default of an endpoint.

extension Endpoint where Response == Page<Article> {
    /// A page of the list, newest first: from a cursor, or the first article, with 1 to 100 articles.
    public static func articles(after cursor: Article.Cursor? = nil, limit: Int = 20) -> Self {
        .get("articles", query: ["cursor": cursor, "limit": limit])
    }
}

extension Endpoint where Response == Article {
    /// One article.
    public static func article(_ id: Article.ID) -> Self { .get("articles/\(id)") }

    /// Creates an article. The call has an idempotency key: sent again, it does not create a second article.
    public static func create(_ draft: ArticleDraft) -> Self { .post("articles", json: draft).idempotent() }

    /// Changes an article of the signed-in user.
    public static func update(_ id: Article.ID, _ changes: ArticleChanges) -> Self {
        .patch("articles/\(id)", json: changes)
    }
}

extension Endpoint where Response == Void {
    /// Deletes an article of the signed-in user.
    public static func delete(_ id: Article.ID) -> Self { .delete("articles/\(id)") }
}
