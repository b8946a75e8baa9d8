/// The file names of accounts.
enum AccountName {
    /// The longest file name in bytes, so that names with a suffix fit 255 bytes.
    static let limit = 200

    /// The name of an account's file.
    ///
    /// Lowercase letters, digits, `-` and `_` are kept; every other byte of the UTF-8 becomes `%` and two lowercase
    /// hexadecimal digits. So no two accounts share a file, even if the file system treats `A` and `a`, or two
    /// encodings of `é`, as equal; and no name is a path, a hidden file or has a suffix of the store (`.lock`,
    /// `.lease`, `.queue`, `.tmp`).
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
