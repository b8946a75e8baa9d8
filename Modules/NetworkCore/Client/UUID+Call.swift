import ConcurrencyPrimitives
import Foundation

extension UUID {
    private static let generator = Locked(SplitMix64(seed: .random(in: 0...UInt64.max)))

    /// A random identifier (RFC 9562 §5.4) that is no secret, without the system calls of `UUID()`.
    static func ofCall() -> UUID {
        let (first, second) = generator.withLock { ($0.next(), $0.next()) }
        let words = (first & ~(0xF0 << 48) | (0x40 << 48), second & ~0xC0 | 0x80)
        return withUnsafeBytes(of: words) { UUID(uuid: $0.load(as: uuid_t.self)) }
    }
}
