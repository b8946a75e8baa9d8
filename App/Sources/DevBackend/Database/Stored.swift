import Foundation
import GRDB

/// The rows of the database: one type a table. GRDB derives a table's name from the name of its type.
enum Stored {
    typealias Table = Codable & FetchableRecord & PersistableRecord & Sendable
    /// A table whose database assigns the identifier.
    typealias NumberedTable = Codable & FetchableRecord & MutablePersistableRecord & Sendable

    struct User: NumberedTable {
        private(set) var id: Int64?
        var name: String
        var imageKey: String?
        var provider: String?
        var providerSubject: String?
        var createdAt: Date

        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }

    struct File: Table {
        let key: String
        let bytes: Data
        let createdAt: Date
    }

    /// The line of tokens that descends from one sign-in.
    struct TokenFamily: Table {
        let id: String
        let userID: Int64
        var generation: Int
        let createdAt: Date
        var revokedAt: Date?
    }

    /// A refresh token. One with a `rotatedAt` is spent.
    struct RefreshToken: Table {
        let digest: Data
        let familyID: String
        let generation: Int
        let expiresAt: Date
        var rotatedAt: Date?
        /// The digest of the idempotency key of the refresh that spent the token; nil without one.
        var keyDigest: Data?
        /// The claims of the access token that the rotation issued, kept while the same key returns the same result.
        var accessClaims: AccessTokens.Claims?
    }

    struct Article: NumberedTable {
        private(set) var id: Int64?
        let authorID: Int64
        var title: String
        var body: String
        let createdAt: Date
        var updatedAt: Date

        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }

    /// One change of an article. Identifiers grow, and are never used again.
    struct ArticleEvent: NumberedTable {
        private(set) var id: Int64?
        let kind: String
        let articleID: Int64
        let createdAt: Date

        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }

        /// Records what happened. It belongs to the transaction of the change: a client that was away, or a server that
        /// was killed, misses no event.
        static func record(_ kind: String, _ articleID: Int64, now: Date, in database: Database) throws {
            var event = ArticleEvent(kind: kind, articleID: articleID, createdAt: now)
            try event.insert(database)
        }
    }

    /// The article that a key has created, and a digest of the request's content.
    struct IdempotencyKey: Table {
        let userID: Int64
        let key: String
        let fingerprint: Data
        let articleID: Int64
    }

    /// One of the server's own values: its keys and its epoch.
    struct Setting: Table {
        let name: String
        let value: Data
    }
}

extension Stored.User {
    static func with(_ provider: String, _ subject: String, in database: Database) throws -> Stored.User? {
        try filter(Column("provider") == provider && Column("providerSubject") == subject).fetchOne(database)
    }

    func requireID() throws -> Int64 {
        guard let id else { throw APIError.internalError }
        return id
    }
}
