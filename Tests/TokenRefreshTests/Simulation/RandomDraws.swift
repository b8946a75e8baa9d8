@testable import TokenRefresh

/// The source of every choice of a world.
///
/// A world draws one number for each step, and all random choices of that step follow from it. So a step can be left
/// out of a run, and the others keep their meaning: that makes it possible to shrink a failing run.
struct RandomDraws {
    private var generator: SplitMix64

    init(_ seed: UInt64) {
        generator = SplitMix64(seed: seed)
    }

    mutating func next() -> UInt64 { generator.next() }

    /// A number from 0 up to, and not including, `count`.
    mutating func pick(_ count: Int) -> Int {
        Int(truncatingIfNeeded: generator.next() >> 33) % count
    }

    mutating func chance(_ percent: Int) -> Bool {
        pick(100) < percent
    }

    mutating func of<Choice>(_ choices: [Choice]) -> Choice {
        choices[pick(choices.count)]
    }
}
