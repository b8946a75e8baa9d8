import Foundation

/// The ratios of the pipeline as horizontal bars (SVG 1.1), with a line at the library below.
struct Chart {
    private static let (width, left, row, scale) = (760.0, 300.0, 22.0, 220.0)

    private let bars: [(label: String, ratio: Double, isOurs: Bool)]
    private let machine: Machine

    init(_ report: Report) {
        machine = report.machine
        bars = report.measurements.filter { $0.metric == .processorRatio && $0.name.hasPrefix("pipeline/") }.map {
            let parts = $0.name.split(separator: "/").dropFirst()
            return (parts.joined(separator: ", "), $0.value.median, $0.name.hasSuffix("tokens"))
        }
    }

    var svg: String {
        let height = Double(bars.count) * Self.row + 70
        var lines = [
            #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \#(Int(Self.width)) \#(Int(height))" "#
                + #"font-family="system-ui, sans-serif" font-size="12" role="img">"#,
            "<title>CPU of a request beside the library below</title>",
            #"<rect width="100%" height="100%" fill="white"/>"#,
            text(10, 24, "CPU of one request, as a multiple of the library below (\(machine.description))", size: 14),
        ]
        for (index, bar) in bars.enumerated() {
            let y = 44 + Double(index) * Self.row
            let length = min(bar.ratio * Self.scale, Self.width - Self.left - 60)
            lines += [
                text(Self.left - 8, y + 13, bar.label, anchor: "end"),
                #"<rect x="\#(Self.left)" y="\#(y)" width="\#(length.short)" height="16" "#
                    + #"fill="\#(bar.isOurs ? "steelblue" : "gray")"/>"#,
                text(Self.left + length + 6, y + 13, bar.ratio.short),
            ]
        }
        let x = Self.left + Self.scale
        lines.append(
            #"<line x1="\#(x)" y1="38" x2="\#(x)" y2="\#(height - 22)" stroke="black" stroke-dasharray="4 3"/>"#)
        return (lines + ["</svg>", ""]).joined(separator: "\n")
    }

    private func text(_ x: Double, _ y: Double, _ text: String, size: Int = 12, anchor: String = "start") -> String {
        #"<text x="\#(x)" y="\#(y)" font-size="\#(size)" text-anchor="\#(anchor)" fill="black">\#(text)</text>"#
    }
}
