import Foundation
import GRDB

/// A row of `user`.
struct UserRecord: Codable, Sendable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "user"

    var id: Int64?
    var name: String
    var imageKey: String?
    var provider: String?
    var providerSubject: String?
    var createdAt: Date

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// A row of `file`: the bytes of an upload and what its header says.
struct FileRecord: Codable, Sendable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "file"

    let key: String
    let bytes: Data
    let width: Int
    let height: Int
    let createdAt: Date
}

/// A row of `tokenFamily`: the line of tokens that descends from one sign-in.
struct TokenFamilyRecord: Codable, Sendable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "tokenFamily"

    let id: String
    let userID: Int64
    var generation: Int
    let createdAt: Date
    var revokedAt: Date?
}

/// A row of `refreshToken`. A token with a `rotatedAt` is spent.
struct RefreshTokenRecord: Codable, Sendable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "refreshToken"

    let digest: Data
    let familyID: String
    let generation: Int
    let expiresAt: Date
    var rotatedAt: Date?
    /// The digest of the idempotency key that the token was spent with; nil without one.
    var keyDigest: Data?
    /// What the access token of the rotation says, kept while the same key earns the same result.
    var accessClaims: AccessClaims?

    private enum CodingKeys: String, CodingKey {
        case digest, familyID, generation, expiresAt, rotatedAt, keyDigest, accessClaims
    }
}

/// A row of `article`.
struct ArticleRecord: Codable, Sendable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "article"

    var id: Int64?
    let authorID: Int64
    var title: String
    var body: String
    let createdAt: Date
    var updatedAt: Date

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// A row of `idempotencyKey`: which article a key has created, and from what.
struct IdempotencyKeyRecord: Codable, Sendable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "idempotencyKey"

    let userID: Int64
    let key: String
    let fingerprint: Data
    let articleID: Int64
}

/// A row of `setting`: the server's own keys and its epoch.
struct SettingRecord: Codable, Sendable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "setting"

    let name: String
    let value: Data
}

/// A row that should have been stored was not.
struct MissingIdentifier: Error {}

extension UserRecord {
    /// The identifier every stored user has.
    func requireID() throws -> Int64 {
        guard let id else { throw MissingIdentifier() }
        return id
    }
}
