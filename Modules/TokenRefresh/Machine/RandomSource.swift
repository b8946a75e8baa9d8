import ConcurrencyPrimitives

/// The source of jitter and keys: the system, or a seed that makes a run repeatable.
enum RandomSource: RandomNumberGenerator, Hashable, Sendable {
    case system
    case seeded(SplitMix64)

    mutating func next() -> UInt64 {
        switch self {
        case .system:
            var system = SystemRandomNumberGenerator()
            return system.next()
        case .seeded(var generator):
            defer { self = .seeded(generator) }
            return generator.next()
        }
    }

    /// It names keys and stretches pauses, and nothing else: states that differ in it alone are walked once.
    func hash(into hasher: inout Hasher) {}
}
