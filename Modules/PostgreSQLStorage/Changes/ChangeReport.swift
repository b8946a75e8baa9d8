#if PostgreSQL
/// What processes tell each other about an account, through `NOTIFY`.
///
/// The channel names the table, the payload the account, both as hashes: a role that may listen on a channel need not
/// be allowed to read the table. Two accounts with one hash wake each other, which does no harm.
enum ChangeReport: Sendable, Hashable {
    /// The stored session has changed.
    case changed(AccountHash)

    /// The lease was released.
    case released(AccountHash)

    static func changed(_ account: String) -> ChangeReport { .changed(AccountHash(account)) }

    static func released(_ account: String) -> ChangeReport { .released(AccountHash(account)) }

    init?(payload: String) {
        guard let hash = AccountHash(hexadecimal: payload.dropFirst()) else { return nil }
        switch payload.first {
        case "c": self = .changed(hash)
        case "r": self = .released(hash)
        default: return nil
        }
    }

    var payload: String {
        switch self {
        case .changed(let hash): "c" + hash.hexadecimal
        case .released(let hash): "r" + hash.hexadecimal
        }
    }

    /// The channel of a table: letters and digits only.
    static func channel(of table: PostgreSQLTable) -> String { "latchkey_" + AccountHash(table.quoted).hexadecimal }
}

/// A short name for an account: 64 bits of FNV-1a. It is no secret and no protection.
struct AccountHash: Sendable, Hashable {
    private let value: UInt64

    init(_ text: String) {
        value = text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }

    init?(hexadecimal: some StringProtocol) {
        guard let value = UInt64(hexadecimal, radix: 16) else { return nil }
        self.value = value
    }

    var hexadecimal: String { String(value, radix: 16) }
}
#endif
