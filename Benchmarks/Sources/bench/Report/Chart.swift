import Foundation

/// A chart (SVG 1.1): bars of ratios, with a dashed line at 1.
struct Chart {
    private static let width = 760.0

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
