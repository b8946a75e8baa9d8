import Foundation

/// A content that is not shown, by its length and a digest: equal contents have equal digests within this process, and
/// no other process can find out what they were.
struct Fingerprint: Sendable, Hashable, CustomStringConvertible {
    /// Random values of this process, so that a digest cannot be compared with one of a guess.
    private static let key = (UInt64.random(in: 0...UInt64.max), UInt64.random(in: 0...UInt64.max))

    /// `512 bytes, #5f0c1234abcd9876`.
    let description: String

    /// The content may be the start of what has this length.
    init(_ content: Data, length: Int) {
        // `Hasher` is keyed too, but an environment variable can switch that off.
        var hasher = Hasher()
        hasher.combine(Self.key.0)
        content.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(length)
        hasher.combine(Self.key.1)
        let digits = String(UInt(bitPattern: hasher.finalize()), radix: 16)
        description = "\(length) bytes, #\(String(repeating: "0", count: 16 - digits.count))\(digits)"
    }

    init(_ text: String) {
        self.init(Data(text.utf8), length: text.utf8.count)
    }
}
