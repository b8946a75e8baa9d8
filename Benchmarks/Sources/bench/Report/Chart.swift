import Foundation

/// A chart (SVG 1.1): bars of ratios, or lines over the size, with a dashed line at 1.
struct Chart {
    private static let width = 760.0

    /// The charts of the subjects that have one.
    static let all: [String: @Sendable (Report) -> Chart] = ["pipeline": pipeline, "growth": growth]

    private let title: String
    private let height: Double
    private var elements: [String] = []

    /// The ratios of the pipeline as horizontal bars.
    static func pipeline(_ report: Report) -> Chart {
        let (left, row, scale) = (300.0, 22.0, 220.0)
        let measurements = report.measurements.filter {
            $0.metric == .processorRatio && $0.name.hasPrefix("pipeline/")
        }
        var chart = Chart(
            title: "CPU of one request, as a multiple of the library below (\(report.machine.description))",
            height: Double(measurements.count) * row + 70)
        for (index, measured) in measurements.enumerated() {
            let y = 44 + Double(index) * row
            let length = min(measured.value.median * scale, width - left - 60)
            let label = measured.name.split(separator: "/").dropFirst().joined(separator: ", ")
            chart.text(left - 8, y + 13, label, anchor: "end")
            chart.elements.append(
                #"<rect x="\#(left)" y="\#(y)" width="\#(length.short)" height="16" "#
                    + #"fill="\#(measured.name.hasSuffix("tokens") ? "steelblue" : "gray")"/>"#)
            chart.text(left + length + 6, y + 13, measured.value.median.short)
        }
        chart.line([(left + scale, 38), (left + scale, chart.height - 22)], dashes: "4 3")
        return chart
    }

    /// What one costs where there are more, over how many there are.
    static func growth(_ report: Report) -> Chart {
        let (left, top, bottom, decade) = (50.0, 50.0, 350.0, 150.0)
        let measurements = report.measurements.filter { $0.metric == .growth }
        let highest = max(2, measurements.map(\.value.median).max() ?? 0)
        let y = { (ratio: Double) in bottom - (bottom - top) * ratio / highest }
        let series = Dictionary(grouping: measurements) { $0.name.split(separator: "/")[1] }
        var chart = Chart(
            title: "CPU of one, as a multiple of that where there are fewest (\(report.machine.description))",
            height: 390)
        for power in 0...3 {
            let x = left + decade * Double(power)
            chart.line([(x, top), (x, bottom)], color: "lightgray")
            chart.text(x, bottom + 18, "× \(Int(pow(10, Double(power))))", anchor: "middle")
        }
        for ratio in stride(from: 0, through: highest, by: highest > 6 ? 2 : 0.5) {
            chart.text(left - 8, y(ratio) + 4, ratio.short, anchor: "end")
        }
        chart.line([(left, y(1)), (left + 3 * decade, y(1))], dashes: "4 3")
        // The labels are at the ends of the lines, one below the other.
        var labelled = top - 14
        let colors = ["steelblue", "darkorange", "seagreen", "crimson", "purple", "saddlebrown", "teal"]
        let sorted = series.sorted { ($0.value.last?.value.median ?? 0) > ($1.value.last?.value.median ?? 0) }
        for (index, (name, measured)) in sorted.enumerated() {
            let color = colors[index % colors.count]
            let points =
                [(left, y(1))]
                + measured.enumerated().map { (left + decade * Double($0 + 1), y($1.value.median)) }
            chart.line(points, color: color, width: 2)
            labelled = max(labelled + 16, (points.last?.1 ?? 0) + 4)
            chart.text(left + 3 * decade + 8, labelled, String(name), color: color)
        }
        return chart
    }

    private init(title: String, height: Double) {
        (self.title, self.height) = (title, height)
        text(10, 24, title, size: 14)
    }

    var svg: String {
        let start = [
            #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \#(Int(Self.width)) \#(Int(height))" "#
                + #"font-family="system-ui, sans-serif" font-size="12" role="img">"#,
            "<title>\(title)</title>",
            #"<rect width="100%" height="100%" fill="white"/>"#,
        ]
        return (start + elements + ["</svg>", ""]).joined(separator: "\n")
    }

    private mutating func text(
        _ x: Double, _ y: Double, _ text: String, size: Int = 12, anchor: String = "start", color: String = "black"
    ) {
        elements.append(
            #"<text x="\#(x.short)" y="\#(y.short)" font-size="\#(size)" text-anchor="\#(anchor)" "#
                + #"fill="\#(color)">\#(text)</text>"#)
    }

    private mutating func line(
        _ points: [(Double, Double)], color: String = "black", width: Int = 1, dashes: String = "none"
    ) {
        let path = points.map { "\($0.0.short),\($0.1.short)" }.joined(separator: " ")
        elements.append(
            #"<polyline points="\#(path)" fill="none" stroke="\#(color)" stroke-width="\#(width)" "#
                + #"stroke-dasharray="\#(dashes)"/>"#)
    }
}
