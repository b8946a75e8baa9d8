/// The CRC-64 of ECMA-182 in the variant of XZ: it finds every error within 64 consecutive bits, so every flipped bit.
///
/// It detects faults of a disk or of memory. It does not protect against an attacker, who can write a new checksum.
package struct CRC64 {
    private static let table: [UInt64] = (0..<256).map { byte in
        (0..<8).reduce(UInt64(byte)) { value, _ in
            value & 1 == 1 ? value >> 1 ^ 0xC96C_5795_D787_0F42 : value >> 1
        }
    }

    /// The checksum of some bytes.
    ///
    /// - Complexity: O(*n*).
    package static func checksum(of bytes: some Sequence<UInt8>) -> UInt64 {
        let table = table
        return ~bytes.reduce(~0) { value, byte in table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ value >> 8 }
    }

    /// The length of a checksum as text.
    static let textLength = 16

    /// The checksum as text: 16 lowercase hexadecimal digits.
    static func text(of bytes: some Sequence<UInt8>) -> String {
        let digits = String(checksum(of: bytes), radix: 16)
        return String(repeating: "0", count: textLength - digits.count) + digits
    }
}
