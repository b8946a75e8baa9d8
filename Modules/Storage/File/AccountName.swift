/// File names for accounts: one for each, on every file system.
enum AccountName {
    /// The longest name a file may be given, in bytes, so that the names beside it fit 255 bytes.
    static let limit = 200

    /// The name of an account's file.
    ///
    /// Small letters, digits, `-` and `_` stand for themselves, every other byte of the UTF-8 for `%` and two small
    /// hexadecimal digits. So no two accounts share a file, not even where `A` and `a`, or two spellings of `é`, are
    /// one name; and no account is a path, a hidden file or one of ours (`.lock`, `.lease`, `.queue`, `.tmp`).
    static func fileName(for account: String) -> String {
        account.isEmpty ? "%.json" : account.utf8.map(encoded).joined() + ".json"
    }

    private static func encoded(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): String(UnicodeScalar(byte))
        case UInt8(ascii: "-"), UInt8(ascii: "_"): String(UnicodeScalar(byte))
        default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }
}
