#if PostgreSQL
import Storage

/// The hash of an account, for notifications. It does not protect the name.
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
