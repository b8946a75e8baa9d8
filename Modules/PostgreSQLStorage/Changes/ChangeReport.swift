#if PostgreSQL
/// A notification about an account between processes (`NOTIFY`).
///
/// The channel is a hash of the table, and the payload has a hash of the account, because a role that may listen on a
/// channel may lack the right to read the table. Accounts with the same hash wake each other, which does no harm.
enum ChangeReport: Sendable, Equatable {
    /// The stored session has changed: the row has this version now. Zero: there is no row.
    case changed(AccountHash, version: Int64)

    /// The lease was released.
    case released(AccountHash)

    init?(payload: String) {
        let parts = payload.dropFirst().split(separator: ".")
        guard let hash = parts.first.flatMap(AccountHash.init(hexadecimal:)) else { return nil }
        switch (payload.first, parts.count) {
        case ("c", 2):
            guard let version = Int64(parts[1]) else { return nil }
            self = .changed(hash, version: version)
        case ("r", 1): self = .released(hash)
        default: return nil
        }
    }

    /// The payload of a change without its version, which the database appends.
    static func changeStem(of account: String) -> String { "c\(AccountHash(account).hexadecimal)." }

    /// The payload of a release.
    static func releasePayload(of account: String) -> String { "r\(AccountHash(account).hexadecimal)" }

    /// The channel of a table: letters and digits only.
    static func channel(of table: PostgreSQLTable) -> String { "latchkey_" + AccountHash(table.quoted).hexadecimal }
}
#endif
