import Foundation

/// All that was measured in one run.
struct Report: Codable, Sendable {
    struct Section: Codable, Sendable {
        let name: String
        let summary: String
        let measurements: [Measurement]

        var table: [String] {
            ["| what | metric | median | lowest – highest | goal |", "|---|---|--:|--:|--:|"] + measurements.map(\.row)
        }
    }

    var machine = Machine()
    var sections: [Section] = []

    var measurements: [Measurement] { sections.flatMap(\.measurements) }

    /// Reads what ``json`` has written.
    static func reading(_ path: String) throws -> Report {
        try JSONDecoder().decode(Report.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    }

    var json: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return try encoder.encode(self) + Data("\n".utf8)
        }
    }

    /// The report as text of Markdown.
    var table: String {
        var lines = ["Measured on \(machine.description)."]
        for section in sections {
            lines += ["", "### \(section.name)", "", section.summary, ""] + section.table
        }
        return lines.joined(separator: "\n")
    }

    /// Draws the chart of the pipeline, where it was measured. The folder is made where it is missing.
    func drawChart(in folder: URL) throws {
        guard sections.contains(where: { $0.name == PipelineBenchmark.name }) else { return }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("\(PipelineBenchmark.name).svg")
        try Data(Chart.pipeline(self).svg.utf8).write(to: file)
    }
}

extension Measurement {
    /// The row of a table.
    fileprivate var row: String {
        let what = name.split(separator: "/").dropFirst().joined(separator: ", ")
        let range = value.low == value.high ? "" : "\(value.low.short) – \(value.high.short)"
        let goal = goal.map { ($0.isWhole ? "\(Int($0))" : "\($0)") + (reachesGoal == true ? "" : ", missed") }
        return "| \(what) | \(metric.rawValue) | \(value.median.short) | \(range) | \(goal ?? "") |"
    }
}

/// The machine, as far as figures depend on it.
struct Machine: Codable, Sendable {
    private(set) var cores = ProcessInfo.processInfo.activeProcessorCount
    private(set) var toolchain = Machine.toolchain

    var description: String { "\(cores) cores, Swift \(toolchain)" }

    /// The version of the compiler, without its patch.
    static var toolchain: String {
        #if compiler(>=6.4)
        "6.4"
        #elseif compiler(>=6.3)
        "6.3"
        #else
        "6.2"
        #endif
    }
}

extension Double {
    fileprivate var isWhole: Bool { self == rounded() && abs(self) < 1e12 }

    /// Three digits that matter.
    var short: String {
        switch abs(self) {
        case 100...: String(Int(rounded()))
        case 10..<100: String(format: "%.1f", self)
        default: String(format: "%.2f", self)
        }
    }
}
