import Foundation

/// The most, or least, that each count and ratio may be, for the compiler's version.
struct Thresholds {
    private let file: URL
    private var values: [String: Double]

    init(folder: String) throws {
        file = URL(fileURLWithPath: folder).appendingPathComponent("swift-\(Machine.toolchain).json")
        let data = try? Data(contentsOf: file)
        values = try data.map { try JSONDecoder().decode([String: Double].self, from: $0) } ?? [:]
    }

    /// What is worse than its threshold, and what has none.
    func exceeded(by report: Report) -> [String] {
        report.measurements.filter(\.metric.isChecked).compactMap { measured in
            guard let limit = values[measured.key] else { return "no threshold: \(measured.key)" }
            let value = measured.value.median
            let isWithin = measured.metric.isBetterWhenHigh ? value >= limit : value <= limit
            return isWithin ? nil : "\(measured.key) is \(value.short), beyond \(limit.short)"
        }
    }

    mutating func update(by report: Report) throws {
        for measured in report.measurements where measured.metric.isChecked {
            let margin = measured.metric.margin * abs(measured.value.median)
            let worse = measured.value.median + (measured.metric.isBetterWhenHigh ? -margin : margin)
            // A few megabytes more than nothing are nothing.
            let limit = measured.metric == .megabytes ? max(worse, measured.goal ?? 0) : worse
            values[measured.key] = (limit * 100).rounded() / 100
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try (encoder.encode(values) + Data("\n".utf8)).write(to: file)
    }
}
