#if PostgreSQL
import Storage

/// What processes tell each other about an account, through `NOTIFY`.
///
/// The channel names the table, the payload the account, both as hashes: a role that may listen on a channel need not
/// be allowed to read the table. Two accounts with one hash wake each other, which does no harm.
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

    /// The payload that reports a change, but for the version, which the database appends.
    static func changeStem(of account: String) -> String { "c\(AccountHash(account).hexadecimal)." }

    /// The payload that reports a release.
    static func releasePayload(of account: String) -> String { "r\(AccountHash(account).hexadecimal)" }

    /// The channel of a table: letters and digits only.
    static func channel(of table: PostgreSQLTable) -> String { "latchkey_" + AccountHash(table.quoted).hexadecimal }
}

/// A short name for an account. It is no secret and no protection.
struct AccountHash: Sendable, Hashable {
    private let value: UInt64

    init(_ text: String) {
        value = CRC64.checksum(of: text.utf8)
    }

    init?(hexadecimal: some StringProtocol) {
        guard let value = UInt64(hexadecimal, radix: 16) else { return nil }
        self.value = value
    }

    var hexadecimal: String { String(value, radix: 16) }
}
#endif
