/// What was measured.
struct Measurement: Codable, Sendable {
    /// What it is: `pipeline/URLSession/1 KB/16/with tokens`.
    let name: String
    /// What is counted.
    let metric: Metric
    let value: Spread
    /// The value to reach. `nil`: there is none.
    var goal: Double?

    enum Metric: String, Codable, Sendable {
        case processorRatio = "CPU, ratio"
        case wallRatio = "time, ratio"
        case throughputRatio = "requests/s, ratio"
        case speedRatio = "MB/s, ratio"
        case memoryRatio = "memory, ratio"
        case instructions
        case allocations
        case bytes
        case megabytes = "MB"
        case microseconds = "µs"
        case nanoseconds = "ns"
        case megabytesPerSecond = "MB/s"

        /// Whether it repeats well enough to be checked: times do not.
        var isChecked: Bool { ![.microseconds, .nanoseconds, .megabytesPerSecond].contains(self) }

        /// How much worse than when the thresholds were written a value may be, as a part of it.
        var margin: Double {
            switch self {
            case .instructions, .allocations: 0.02
            default: 0.25
            }
        }

        var isBetterWhenHigh: Bool { [.throughputRatio, .speedRatio, .megabytesPerSecond].contains(self) }
    }

    /// The key of a threshold.
    var key: String { "\(name): \(metric.rawValue)" }

    var reachesGoal: Bool? {
        goal.map { metric.isBetterWhenHigh ? value.median >= $0 : value.median <= $0 }
    }
}

struct BenchError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
