import GRDB

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
