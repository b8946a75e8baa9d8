import Crypto
import Foundation
import GRDB
import HTTPTypes

/// The articles, and who may change them.
struct Articles: Sendable {
    struct Draft: Sendable, Hashable {
        let title: String
        let body: String

        /// Distinguishes a repeated request from a different one with the same key.
        var fingerprint: Data { Data(SHA256.hash(data: Data("\(title.utf8.count):\(title)\(body)".utf8))) }
    }

    let database: BackendDatabase

    /// A page, newest first: of articles before one, so that an article that is created or deleted between two pages
    /// causes neither a repetition nor a gap. The cursor of the next page is the identifier of the last one.
    func page(before id: Int64?, limit: Int) async throws -> Payload.Page<Payload.Article> {
        // Identifiers grow with every article and are never used again, so their order is that of creation. One row
        // more than asked for shows whether there is another page.
        let rows = try await database.writer.read { database in
            try Payload.Article.fetchAll(
                database, sql: "\(Payload.Article.selection) WHERE article.id < ? ORDER BY article.id DESC LIMIT ?",
                arguments: [id ?? .max, limit + 1])
        }
        let items = Array(rows.prefix(limit))
        let next = rows.count > limit ? items.last.map { String($0.id) } : nil
        return Payload.Page(items: items, nextCursor: next)
    }

    func article(_ id: Int64) async throws -> Payload.Article {
        try await database.writer.read { database in try .require(id, in: database) }
    }

    /// Creates an article. A key that was used before returns the article it created.
    ///
    /// - Returns: The article, and whether this call created it.
    /// - Throws: `IDEMPOTENCY_KEY_REUSED` when the key was used with other content, `NOT_FOUND` when the article it
    ///   created has been deleted.
    func create(
        _ draft: Draft, by userID: Int64, idempotencyKey key: String?, now: Date
    ) async throws -> (article: Payload.Article, isNew: Bool) {
        try await database.writer.write { database in
            if let key,
                let used = try Stored.IdempotencyKey.fetchOne(database, key: ["userID": userID, "key": key])
            {
                guard used.fingerprint == draft.fingerprint else {
                    throw APIError(
                        .unprocessableContent, "IDEMPOTENCY_KEY_REUSED", "The key was used with other content before.")
                }
                return (try .require(used.articleID, in: database), false)
            }
            var record = Stored.Article(
                authorID: userID, title: draft.title, body: draft.body, createdAt: now, updatedAt: now)
            try record.insert(database)
            let article = try Payload.Article.require(record.id ?? 0, in: database)
            try Stored.ArticleEvent.record("created", article.id, now: now, in: database)
            if let key {
                let used = Stored.IdempotencyKey(
                    userID: userID, key: key, fingerprint: draft.fingerprint, articleID: article.id)
                try used.insert(database)
            }
            return (article, true)
        }
    }

    func change(
        _ id: Int64, title: String?, body: String?, by userID: Int64, now: Date
    ) async throws -> Payload.Article {
        try await database.writer.write { database in
            var record = try Self.article(id, ownedBy: userID, in: database)
            record.title = title ?? record.title
            record.body = body ?? record.body
            record.updatedAt = now
            try record.update(database)
            try Stored.ArticleEvent.record("changed", id, now: now, in: database)
            return try .require(id, in: database)
        }
    }

    func delete(_ id: Int64, by userID: Int64, now: Date) async throws {
        try await database.writer.write { database in
            _ = try Self.article(id, ownedBy: userID, in: database).delete(database)
            try Stored.ArticleEvent.record("deleted", id, now: now, in: database)
        }
    }

    private static func article(_ id: Int64, ownedBy userID: Int64, in database: Database) throws -> Stored.Article {
        guard let record = try Stored.Article.fetchOne(database, key: id) else { throw APIError.notFound }
        guard record.authorID == userID else {
            throw APIError(.forbidden, "FORBIDDEN", "Only the author may change an article.")
        }
        return record
    }
}

extension Payload.Article {
    fileprivate static let selection = """
        SELECT article.*, user.name AS authorName FROM article JOIN user ON user.id = article.authorID
        """

    fileprivate static func require(_ id: Int64, in database: Database) throws -> Self {
        guard let article = try fetchOne(database, sql: "\(selection) WHERE article.id = ?", arguments: [id]) else {
            throw APIError.notFound
        }
        return article
    }
}

/// The articles of a new database, one hour apart, the last one hour old.
enum ArticleSeed {
    static func insert(into database: Database, now: Date) throws {
        var author = Stored.User(name: "Rosa Lindqvist", createdAt: now)
        try author.insert(database)
        guard let authorID = author.id else { return }
        for (index, text) in texts.enumerated() {
            let createdAt = now.addingTimeInterval(-3600 * Double(texts.count - index))
            var article = Stored.Article(
                authorID: authorID, title: text.title, body: text.body, createdAt: createdAt, updatedAt: createdAt)
            try article.insert(database)
        }
    }

    static let texts: [(title: String, body: String)] = [
        ("What a lighthouse keeper writes down", "Wind, visibility, the hour the lamp was lit. Nothing else is news."),
        ("A short history of the paper clip", "It was patented many times and improved upon almost never."),
        ("Baking bread at altitude", "Less yeast, more water, and time: dough rises faster where air is thin."),
        ("Why bridges hum", "Wind sheds vortices off the cables, and a cable is a string like any other."),
        ("The librarian's index cards", "Before there was search there were drawers, and people who knew them."),
        ("Walking the old canal", "Eleven kilometres, four locks, one heron who does not care about any of it."),
        ("On repairing bicycles", "Start with the sound: the part that complains is rarely the part at fault."),
        ("Names for rain", "A drizzle does not fall, it hangs; a downpour has an edge you can step across."),
        ("How a key fits", "Each cut lifts a pin to one height. All of them agree at once, or the lock stays shut."),
        ("The quiet of early trains", "Before six no one speaks, and everyone seems to have agreed on it."),
        ("Growing tomatoes on a balcony", "Five hours of sun and a deep pot do more than any fertiliser."),
        ("Letters that arrived late", "One came after sixty years, with the right stamp and the wrong street."),
    ]
}
