import ConcurrencyPrimitives
package import Foundation

/// Inputs for a parser: random bytes, and mutations of valid inputs. They are the same in each run.
package struct Fuzzing: Sendable {
    private let seeds: [String]
    private let words: [String]
    private let rounds: Int

    /// Inputs for one format, made of valid ones and of its words: so many random ones, and so many mutated ones.
    package init(seeds: [String], words: [String], rounds: Int = 1_000) {
        (self.seeds, self.words, self.rounds) = (seeds, words, rounds)
    }

    /// Gives each input to a parser, which must neither crash nor hang.
    package func run(_ parse: (Data) throws -> Void) {
        var random = SplitMix64(seed: 20_261_122)
        for _ in 0..<rounds {
            let length = Int.random(in: 0...200, using: &random)
            try? parse(Data((0..<length).map { _ in UInt8.random(in: .min ... .max, using: &random) }))
            try? parse(mutation(using: &random))
        }
    }

    /// A seed with some bytes changed, removed, repeated or replaced by words.
    private func mutation(using random: inout SplitMix64) -> Data {
        var bytes = Array((seeds.randomElement(using: &random) ?? "").utf8)
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let position = Int.random(in: 0...bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0 where position < bytes.count: bytes[position] = UInt8.random(in: .min ... .max, using: &random)
            case 1 where position < bytes.count: bytes.remove(at: position)
            case 2: bytes.insert(contentsOf: Array((words.randomElement(using: &random) ?? "").utf8), at: position)
            case 3: bytes.insert(contentsOf: bytes.prefix(Int.random(in: 0...64, using: &random)), at: position)
            default: bytes.removeLast(min(bytes.count, Int.random(in: 0...16, using: &random)))
            }
        }
        return Data(bytes)
    }

    /// Whether the processor time of a parser grows no faster than its input: an input 16 times as long takes less than
    /// 100 times as long, where a quadratic one would take 256 times. The best of several runs counts.
    ///
    /// The shorter input has `size` bytes of the unit. The time of `prepare`, which makes of the bytes what the parser
    /// reads, does not count.
    package static func isLinear<Input>(
        _ unit: String, prefix: String = "", suffix: String = "", size: Int = 1_024, preparing prepare: (Data) -> Input,
        _ parse: (Input) throws -> Void
    ) -> Bool {
        func best(_ count: Int) -> Int {
            let input = prepare(Data((prefix + String(repeating: unit, count: count) + suffix).utf8))
            return (0..<3).map { _ in processorTime { try? parse(input) } }.min() ?? 0
        }
        let count = max(1, size / max(1, unit.utf8.count))
        // A tick of the clock is not a measurement.
        return best(count * 16) < max(best(count), 20_000) * 100
    }

    /// Whether the processor time of a parser of bytes grows no faster than its input.
    package static func isLinear(
        _ unit: String, prefix: String = "", suffix: String = "", _ parse: (Data) throws -> Void
    ) -> Bool {
        isLinear(unit, prefix: prefix, suffix: suffix, preparing: { $0 }, parse)
    }

    /// The nanoseconds that this thread uses, so that other work of the machine does not count.
    private static func processorTime(of body: () -> Void) -> Int {
        func now() -> Int {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return time.tv_sec * 1_000_000_000 + time.tv_nsec
        }
        let start = now()
        body()
        return now() - start
    }
}
