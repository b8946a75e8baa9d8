/// A piece of work that can be repeated.
struct Work: Sendable {
    let name: String
    /// Does it that many times.
    let run: @Sendable (_ count: Int) async throws -> Void
}

/// Works that are measured in turn (A B C, A B C, …), so that what else the machine does meets all of them alike.
struct Comparison {
    /// The first one is what the others are compared with.
    var works: [Work]
    /// How often each work is repeated in one round.
    var count: Int
    var rounds = 7

    /// The costs of one work in each round, for one repetition.
    struct Costs {
        /// Microseconds of all threads of the process.
        var processor: [Double] = []
        /// Microseconds.
        var wall: [Double] = []
    }

    /// Runs all rounds, and one before, which warms up.
    func costs() async throws -> [Costs] {
        var costs = works.map { _ in Costs() }
        for round in 0...rounds {
            for (index, work) in works.enumerated() {
                let (before, wall) = (Usage.processorTime, Usage.wallTime)
                try await work.run(count)
                guard round > 0 else { continue }
                costs[index].processor.append((Usage.processorTime - before) / Double(count))
                costs[index].wall.append((Usage.wallTime - wall) / Double(count))
            }
        }
        return costs
    }
}

/// The median of some values, with the lowest and the highest.
struct Spread: Codable, Sendable, Hashable {
    let median: Double
    let low: Double
    let high: Double

    init(_ values: [Double]) {
        let sorted = values.sorted()
        (median, low, high) = (sorted[sorted.count / 2], sorted[0], sorted[sorted.count - 1])
    }

    /// A count, which has no spread.
    init(_ value: Double) { (median, low, high) = (value, value, value) }

    /// The ratios of values that were measured in the same rounds.
    static func ratio(_ values: [Double], to base: [Double]) -> Spread { Spread(zip(values, base).map(/)) }

    static func difference(_ values: [Double], to base: [Double]) -> Spread { Spread(zip(values, base).map(-)) }
}
