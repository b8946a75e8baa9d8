import Crypto
import Foundation
import GRDB
import NIOConcurrencyHelpers

/// The opened database and the few values of it that every request needs.
struct BackendDatabase: Sendable {
    let writer: any DatabaseWriter

    /// Signs access tokens; made on a database's first start, so that sessions outlive a restart.
    let signingKey: SymmetricKey

    /// Derives refresh tokens from their predecessors.
    let successionKey: SymmetricKey

    private let currentEpoch: NIOLockedValueBox<Int>

    /// Opens, migrates and, when it is new and the configuration says so, seeds the database.
    ///
    /// - Throws: `DatabaseError` when the file cannot be opened or is no database of this server.
    init(_ configuration: DevBackend.Configuration) async throws {
        switch configuration.database {
        case .memory: writer = try DatabaseQueue()
        case .file(let path): writer = try DatabasePool(path: path)
        }
        try Schema.migrator.migrate(writer)
        let now = configuration.now()
        let seedsArticles = configuration.seedsArticles
        let settings = try await writer.write { database in
            let isNew = try SettingRecord.fetchCount(database) == 0
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

    /// Begins the next epoch: every access token issued so far is expired.
    ///
    /// - Returns: the new epoch.
    func beginNextEpoch() async throws -> Int {
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
        // A connection that is still in use closes when its last user lets go of it.
        try? writer.close()
    }
}

/// Access to the `setting` table, inside a transaction the caller opens.
private enum Setting {
    /// A 256-bit key, made when it is first asked for.
    static func key(_ name: String, in database: Database) throws -> SymmetricKey {
        if let record = try SettingRecord.fetchOne(database, key: name) { return SymmetricKey(data: record.value) }
        let key = SymmetricKey(size: .bits256)
        try SettingRecord(name: name, value: key.withUnsafeBytes { Data($0) }).insert(database)
        return key
    }

    static func epoch(in database: Database) throws -> Int {
        guard let record = try SettingRecord.fetchOne(database, key: "epoch") else { return 0 }
        return Int(String(decoding: record.value, as: UTF8.self)) ?? 0
    }

    static func setEpoch(_ epoch: Int, in database: Database) throws {
        try SettingRecord(name: "epoch", value: Data(String(epoch).utf8)).save(database)
    }
}
