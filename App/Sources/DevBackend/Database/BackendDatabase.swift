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

    /// Opens, migrates and, when it is new, seeds the database.
    ///
    /// - Throws: `DatabaseError` when the file cannot be opened or is not a database of this server.
    init(_ configuration: DevBackend.Configuration) async throws {
        switch configuration.database {
        case .memory: writer = try DatabaseQueue()
        case .file(let path): writer = try DatabasePool(path: path)
        }
        try Schema.migrator.migrate(writer)
        let now = configuration.now()
        let settings = try await writer.write { database in
            if try Stored.Setting.fetchCount(database) == 0 { try ArticleSeed.insert(into: database, now: now) }
            return (
                signingKey: try Stored.Setting.key("signingKey", in: database),
                successionKey: try Stored.Setting.key("successionKey", in: database),
                epoch: try Stored.Setting.epoch(in: database)
            )
        }
        signingKey = settings.signingKey
        successionKey = settings.successionKey
        currentEpoch = NIOLockedValueBox(settings.epoch)
    }

    /// Access tokens of an earlier epoch are expired.
    var epoch: Int { currentEpoch.withLockedValue { $0 } }

    /// Starts the next epoch, which expires every access token issued so far.
    func startNextEpoch() async throws {
        let epoch = try await writer.write { database in
            let epoch = try Stored.Setting.epoch(in: database) + 1
            try Stored.Setting(name: "epoch", value: Data(String(epoch).utf8)).update(database)
            return epoch
        }
        currentEpoch.withLockedValue { $0 = max($0, epoch) }
    }

    func close() {
        // A connection that is still in use closes when its last user releases it.
        try? writer.close()
    }
}

extension Stored.Setting {
    fileprivate static func value(_ name: String, in database: Database, first: () -> Data) throws -> Data {
        if let record = try fetchOne(database, key: name) { return record.value }
        let record = Self(name: name, value: first())
        try record.insert(database)
        return record.value
    }

    fileprivate static func key(_ name: String, in database: Database) throws -> SymmetricKey {
        SymmetricKey(
            data: try value(name, in: database) { SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) } })
    }

    fileprivate static func epoch(in database: Database) throws -> Int {
        Int(String(decoding: try value("epoch", in: database) { Data("0".utf8) }, as: UTF8.self)) ?? 0
    }
}

private enum Schema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for (name, statements) in migrations {
            migrator.registerMigration(name) { try $0.execute(sql: statements) }
        }
        return migrator
    }

    // The event of a deletion outlives the article, and so does an idempotency key: a late retry must not create a
    // deleted article again. Neither has a reference to it.
    private static let migrations: KeyValuePairs = [
        "accounts": """
        CREATE TABLE user (
            id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, imageKey TEXT, provider TEXT,
            providerSubject TEXT, createdAt DATETIME NOT NULL, UNIQUE (provider, providerSubject));
        CREATE TABLE file (
            key TEXT PRIMARY KEY NOT NULL, bytes BLOB NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL,
            createdAt DATETIME NOT NULL);
        """,
        "tokens": """
        CREATE TABLE setting (name TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL);
        CREATE TABLE tokenFamily (
            id TEXT PRIMARY KEY NOT NULL, userID INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
            generation INTEGER NOT NULL, createdAt DATETIME NOT NULL, revokedAt DATETIME);
        CREATE TABLE refreshToken (
            digest BLOB PRIMARY KEY NOT NULL, familyID TEXT NOT NULL REFERENCES tokenFamily ON DELETE CASCADE,
            generation INTEGER NOT NULL, expiresAt DATETIME NOT NULL, rotatedAt DATETIME,
            UNIQUE (familyID, generation));
        """,
        "articles": """
        CREATE TABLE article (
            id INTEGER PRIMARY KEY AUTOINCREMENT, authorID INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
            title TEXT NOT NULL, body TEXT NOT NULL, createdAt DATETIME NOT NULL, updatedAt DATETIME NOT NULL);
        CREATE TABLE idempotencyKey (
            userID INTEGER NOT NULL REFERENCES user ON DELETE CASCADE, key TEXT NOT NULL,
            fingerprint BLOB NOT NULL, articleID INTEGER NOT NULL, PRIMARY KEY (userID, key));
        """,
        "refreshKeys": """
        ALTER TABLE refreshToken ADD COLUMN keyDigest BLOB;
        ALTER TABLE refreshToken ADD COLUMN accessClaims BLOB;
        """,
        "articleEvents": """
        CREATE TABLE articleEvent (
            id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, articleID INTEGER NOT NULL,
            createdAt DATETIME NOT NULL);
        """,
        "filesWithoutDimensions": "ALTER TABLE file DROP COLUMN width; ALTER TABLE file DROP COLUMN height;",
    ]
}
