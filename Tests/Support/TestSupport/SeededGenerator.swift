import ConcurrencyPrimitives

/// Random numbers that are the same in each run, so that a failing run can be repeated.
package struct SeededGenerator: RandomNumberGenerator {
    private var base: SplitMix64

    package init(seed: UInt64) {
        base = SplitMix64(seed: seed)
    }

    package mutating func next() -> UInt64 { base.next() }
}
