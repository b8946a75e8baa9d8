import Foundation

/// A content that is not shown, by its length and a digest: equal contents have equal digests within this process only.
enum Fingerprint {
    /// Random values of this process, so that a digest cannot be compared with one of a guess.
    private static let key = (UInt64.random(in: 0...UInt64.max), UInt64.random(in: 0...UInt64.max))

    /// `512 bytes, #5f0c1234abcd9876`: of a content, which may be the start of what has this length.
    static func of(_ content: Data, length: Int) -> String {
        // `Hasher` is keyed too, but an environment variable can switch that off.
        var hasher = Hasher()
        hasher.combine(key.0)
        content.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(length)
        hasher.combine(key.1)
        let digits = String(UInt(bitPattern: hasher.finalize()), radix: 16)
        return "\(length) bytes, #\(String(repeating: "0", count: 16 - digits.count))\(digits)"
    }
}
