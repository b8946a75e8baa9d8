import Crypto
import Foundation
import GRDB
import HTTPTypes

/// A place in the list of articles: everything after it is older.
///
/// Opaque to clients. It holds an identifier, not an offset, so that what is written or deleted between two pages
/// neither repeats an article nor skips one.
struct ArticleCursor: Sendable, Hashable {
    let id: Int64

    init(id: Int64) { self.id = id }

    init?(_ text: String) {
        guard
            let decoded = Data(base64URLEncoded: text).map({ String(decoding: $0, as: UTF8.self) }),
            decoded.hasPrefix(Self.prefix), let id = Int64(decoded.dropFirst(Self.prefix.count))
        else { return nil }
        self.id = id
    }

    var text: String { Data("\(Self.prefix)\(id)".utf8).base64URLEncodedString() }

    private static let prefix = "article:"
}

/// The articles and who may change them.
struct Articles: Sendable {
    struct Draft: Sendable, Hashable {
        let title: String
        let body: String

        /// Tells a repeated request from another one under the same key.
        var fingerprint: Data {
            Data(SHA256.hash(data: Data("\(title.utf8.count):\(title)\(body)".utf8)))
        }
    }

    let database: BackendDatabase

    /// A page, newest first.
    func page(after cursor: ArticleCursor?, limit: Int) async throws -> PagePayload<ArticlePayload> {
        let rows = try await database.writer.read { database in
            try ArticleRow.fetch(database, before: cursor?.id, limit: limit + 1)
        }
        // One row more than asked for tells whether there is another page.
        let items = rows.prefix(limit)
        let next = rows.count > limit ? items.last.map { ArticleCursor(id: $0.id).text } : nil
        return PagePayload(items: items.map(\.payload), nextCursor: next)
    }

    /// One article.
    ///
    /// - Throws: `NOT_FOUND`.
    func article(_ id: Int64) async throws -> ArticlePayload {
        try await database.writer.read { database in try ArticleRow.require(id, in: database).payload }
    }

    /// Creates an article; a key that was seen before answers the article it created then.
    ///
    /// - Returns: the article, and whether this call created it.
    /// - Throws: `IDEMPOTENCY_KEY_REUSED` when the key came with other content before, `NOT_FOUND` when what it
    ///   created is gone.
    func create(
        _ draft: Draft, by userID: Int64, idempotencyKey key: String?, now: Date
    ) async throws -> (article: ArticlePayload, isNew: Bool) {
        try await database.writer.write { database in
            if let key,
                let used = try IdempotencyKeyRecord.fetchOne(database, key: ["userID": userID, "key": key])
            {
                guard used.fingerprint == draft.fingerprint else {
                    throw APIError(
                        .unprocessableContent, "IDEMPOTENCY_KEY_REUSED", "The key came with other content before.")
                }
                return (try ArticleRow.require(used.articleID, in: database).payload, false)
            }
            var record = ArticleRecord(
                authorID: userID, title: draft.title, body: draft.body, createdAt: now, updatedAt: now)
            try record.insert(database)
            let row = try ArticleRow.require(record.id ?? 0, in: database)
            if let key {
                let used = IdempotencyKeyRecord(
                    userID: userID, key: key, fingerprint: draft.fingerprint, articleID: row.id)
                try used.insert(database)
            }
            return (row.payload, true)
        }
    }

    /// Changes what is given and leaves the rest.
    ///
    /// - Throws: `NOT_FOUND`, or `FORBIDDEN` for somebody else's.
    func change(
        _ id: Int64, title: String?, body: String?, by userID: Int64, now: Date
    ) async throws -> ArticlePayload {
        try await database.writer.write { database in
            var record = try Self.own(id, of: userID, in: database)
            record.title = title ?? record.title
            record.body = body ?? record.body
            record.updatedAt = now
            try record.update(database)
            return try ArticleRow.require(id, in: database).payload
        }
    }

    /// Deletes an article.
    ///
    /// - Throws: `NOT_FOUND`, or `FORBIDDEN` for somebody else's.
    func delete(_ id: Int64, by userID: Int64) async throws {
        try await database.writer.write { database in
            _ = try Self.own(id, of: userID, in: database).delete(database)
        }
    }

    private static func own(_ id: Int64, of userID: Int64, in database: Database) throws -> ArticleRecord {
        guard let record = try ArticleRecord.fetchOne(database, key: id) else { throw APIError.notFound }
        guard record.authorID == userID else {
            throw APIError(.forbidden, "FORBIDDEN", "Only its author may change an article.")
        }
        return record
    }
}

/// An article joined with its author's name.
private struct ArticleRow: Decodable, FetchableRecord {
    let id: Int64
    let title: String
    let body: String
    let authorID: Int64
    let authorName: String
    let createdAt: Date
    let updatedAt: Date

    private static let selection = """
        SELECT article.*, user.name AS authorName FROM article JOIN user ON user.id = article.authorID
        """

    /// Identifiers grow with every article and are never used again, so their order is that of creation.
    static func fetch(_ database: Database, before id: Int64?, limit: Int) throws -> [ArticleRow] {
        try fetchAll(
            database, sql: "\(selection) WHERE article.id < ? ORDER BY article.id DESC LIMIT ?",
            arguments: [id ?? .max, limit])
    }

    static func require(_ id: Int64, in database: Database) throws -> ArticleRow {
        guard let row = try fetchOne(database, sql: "\(selection) WHERE article.id = ?", arguments: [id]) else {
            throw APIError.notFound
        }
        return row
    }

    var payload: ArticlePayload {
        ArticlePayload(
            id: id, title: title, body: body, author: ArticlePayload.Author(id: authorID, name: authorName),
            createdAt: createdAt, updatedAt: updatedAt)
    }
}
