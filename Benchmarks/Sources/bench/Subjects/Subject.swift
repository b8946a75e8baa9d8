import CountingMalloc

/// Something to measure.
protocol Subject: Sendable {
    /// What `--only` names.
    static var name: String { get }

    /// One sentence: what is measured, and how.
    static var summary: String { get }

    static func measure() async throws -> [Measurement]

    /// Works to repeat under callgrind, by name, with how many repetitions make one count.
    static func repeated() throws -> [(work: Work, count: Int)]
}

extension Subject {
    static func repeated() throws -> [(work: Work, count: Int)] { [] }

    /// The instructions and allocations of the repeated works.
    static func counts(goals: [String: Double] = [:]) async throws -> [Measurement] {
        var found: [Measurement] = []
        for (work, count) in try repeated() {
            // What is made once is made before.
            try await work.run(count)
            let counts = try await Usage.allocations { try await work.run(count) }
            // What is made once in a while does not count.
            let allocations = (Double(counts.blocks) / Double(count) * 10).rounded() / 10
            found.append(
                .init(name: work.name, metric: .allocations, value: Spread(allocations), goal: goals[work.name]))
            if let instructions = try Instructions.perRepetition(of: work.name, count: count) {
                found.append(.init(name: work.name, metric: .instructions, value: Spread(instructions)))
            }
        }
        return found
    }
}

/// All of them, in the order of the report.
let subjects: [any Subject.Type] = [
    PipelineBenchmark.self, OwnCostBenchmark.self, TokenBenchmark.self, StormBenchmark.self, StoreBenchmark.self,
    TransferBenchmark.self, StreamBenchmark.self, ImagingBenchmark.self,
]
