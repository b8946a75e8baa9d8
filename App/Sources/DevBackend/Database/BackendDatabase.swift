import Crypto
import Foundation
import GRDB
import NIOConcurrencyHelpers

/// The opened database, and the values of it that every request needs.
struct BackendDatabase: Sendable {
    let writer: any DatabaseWriter

    /// Signs access tokens. Created with the database, so that sessions survive a restart.
    let signingKey: SymmetricKey

    /// Derives refresh tokens from their predecessors.
    let successionKey: SymmetricKey

    private let currentEpoch: NIOLockedValueBox<Int>

    /// Opens, migrates and, when it is new and the configuration says so, seeds the database.
    ///
    /// - Throws: `DatabaseError` when the file cannot be opened or is not a database of this server.
    init(_ configuration: DevBackend.Configuration) async throws {
        switch configuration.database {
        case .memory: writer = try DatabaseQueue()
        case .file(let path): writer = try DatabasePool(path: path)
        }
        try Schema.migrator.migrate(writer)
        let now = configuration.now()
        let seedsArticles = configuration.seedsArticles
        let settings = try await writer.write { database in
            let isNew = try Stored.Setting.fetchCount(database) == 0
            if isNew, seedsArticles { try ArticleSeed.insert(into: database, now: now) }
            return (
                signingKey: try Setting.key("signingKey", in: database),
                successionKey: try Setting.key("successionKey", in: database),
                epoch: try Setting.epoch(in: database)
            )
        }
        signingKey = settings.signingKey
        successionKey = settings.successionKey
        currentEpoch = NIOLockedValueBox(settings.epoch)
    }

    /// Access tokens of an earlier epoch are expired.
    var epoch: Int { currentEpoch.withLockedValue { $0 } }

    /// Starts the next epoch, which expires every access token issued so far.
    ///
    /// - Returns: The new epoch.
    func startNextEpoch() async throws -> Int {
        let epoch = try await writer.write { database in
            let epoch = try Setting.epoch(in: database) + 1
            try Setting.setEpoch(epoch, in: database)
            return epoch
        }
        return currentEpoch.withLockedValue { current in
            current = max(current, epoch)
            return current
        }
    }

    func close() {
        // A connection that is still in use closes when its last user releases it.
        try? writer.close()
    }
}

/// Access to the `setting` table, inside a transaction that the caller opens.
private enum Setting {
    /// A 256-bit key, created on first use.
    static func key(_ name: String, in database: Database) throws -> SymmetricKey {
        if let record = try Stored.Setting.fetchOne(database, key: name) { return SymmetricKey(data: record.value) }
        let key = SymmetricKey(size: .bits256)
        try Stored.Setting(name: name, value: key.withUnsafeBytes { Data($0) }).insert(database)
        return key
    }

    static func epoch(in database: Database) throws -> Int {
        guard let record = try Stored.Setting.fetchOne(database, key: "epoch") else { return 0 }
        return Int(String(decoding: record.value, as: UTF8.self)) ?? 0
    }

    static func setEpoch(_ epoch: Int, in database: Database) throws {
        try Stored.Setting(name: "epoch", value: Data(String(epoch).utf8)).save(database)
    }
}

/// The migrations from an empty database to the current schema.
enum Schema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("accounts") { database in
            try createAccounts(in: database)
        }
        migrator.registerMigration("tokens") { database in
            try createTokens(in: database)
        }
        migrator.registerMigration("articles") { database in
            try createArticles(in: database)
        }
        migrator.registerMigration("refreshKeys") { database in
            try database.alter(table: "refreshToken") { table in
                table.add(column: "keyDigest", .blob)
                table.add(column: "accessClaims", .blob)
            }
        }
        migrator.registerMigration("articleEvents") { database in
            try database.create(table: "articleEvent") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("kind", .text).notNull()
                // No reference: the event of a deletion outlives the article.
                table.column("articleID", .integer).notNull()
                table.column("createdAt", .datetime).notNull()
            }
        }
        return migrator
    }

    private static func createAccounts(in database: Database) throws {
        try database.create(table: "user") { table in
            table.autoIncrementedPrimaryKey("id")
            table.column("name", .text).notNull()
            table.column("imageKey", .text)
            table.column("provider", .text)
            table.column("providerSubject", .text)
            table.column("createdAt", .datetime).notNull()
            table.uniqueKey(["provider", "providerSubject"])
        }
        try database.create(table: "file") { table in
            table.primaryKey("key", .text)
            table.column("bytes", .blob).notNull()
            table.column("width", .integer).notNull()
            table.column("height", .integer).notNull()
            table.column("createdAt", .datetime).notNull()
        }
    }

    private static func createTokens(in database: Database) throws {
        try database.create(table: "setting") { table in
            table.primaryKey("name", .text)
            table.column("value", .blob).notNull()
        }
        try database.create(table: "tokenFamily") { table in
            table.primaryKey("id", .text)
            table.column("userID", .integer).notNull().indexed().references("user", onDelete: .cascade)
            table.column("generation", .integer).notNull()
            table.column("createdAt", .datetime).notNull()
            table.column("revokedAt", .datetime)
        }
        try database.create(table: "refreshToken") { table in
            table.primaryKey("digest", .blob)
            table.column("familyID", .text).notNull().indexed().references("tokenFamily", onDelete: .cascade)
            table.column("generation", .integer).notNull()
            table.column("expiresAt", .datetime).notNull()
            table.column("rotatedAt", .datetime)
            table.uniqueKey(["familyID", "generation"])
        }
    }

    private static func createArticles(in database: Database) throws {
        try database.create(table: "article") { table in
            table.autoIncrementedPrimaryKey("id")
            table.column("authorID", .integer).notNull().indexed().references("user", onDelete: .cascade)
            table.column("title", .text).notNull()
            table.column("body", .text).notNull()
            table.column("createdAt", .datetime).notNull()
            table.column("updatedAt", .datetime).notNull()
        }
        try database.create(table: "idempotencyKey") { table in
            table.column("userID", .integer).notNull().references("user", onDelete: .cascade)
            table.column("key", .text).notNull()
            table.column("fingerprint", .blob).notNull()
            // No reference: a key outlives its article, so that a late retry cannot create a deleted article again.
            table.column("articleID", .integer).notNull()
            table.primaryKey(["userID", "key"])
        }
    }
}
