/// The source of jitter and keys: the system, or a seed that makes a run repeatable.
enum RandomSource: RandomNumberGenerator, Sendable {
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
}

/// A small seeded generator.
struct SplitMix64: RandomNumberGenerator, Hashable, Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
