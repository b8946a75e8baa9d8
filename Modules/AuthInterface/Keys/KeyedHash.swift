package import Foundation

/// Texts as digests that tell equal from different and nothing else, without the key: HMAC with SHA-256 (RFC 2104).
package struct KeyedHash: Sendable {
    /// The bytes of a key.
    package static let keySize = 32

    private let inner: [UInt8]
    private let outer: [UInt8]

    /// Creates a hash with a key of at most 64 bytes.
    package init(key: Data = randomKey()) {
        let block = [UInt8](key) + [UInt8](repeating: 0, count: max(0, SHA256Digest.blockSize - key.count))
        inner = block.map { $0 ^ 0x36 }
        outer = block.map { $0 ^ 0x5C }
    }

    package static func randomKey() -> Data { Data((0..<keySize).map { _ in UInt8.random(in: .min ... .max) }) }

    /// The digest of a text, in base 64.
    package func callAsFunction(_ text: String) -> String { digest(of: text).base64EncodedString() }

    /// The digest of a text: 32 bytes.
    package func digest(of text: String) -> Data { SHA256Digest.of(outer + SHA256Digest.of(inner + text.utf8)) }
}
