import Foundation

/// A page with the tables of a report (Markdown). What else it says, as of a table, stays.
struct ResultsPage {
    private let file: URL

    init(_ file: URL) { self.file = file }

    /// Replaces the summary and the table of each subject of a report, draws its chart in the page's folder, and says
    /// what they were measured on.
    ///
    /// - Throws: `BenchError` where the page has no section of a subject; errors of the file system.
    func update(by report: Report) throws {
        var lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
        for section in report.sections {
            guard let title = lines.firstIndex(of: "### \(section.name)") else {
                throw BenchError("\(file.path) has no section '### \(section.name)'")
            }
            let end = lines[(title + 1)...].firstIndex { $0.hasPrefix("#") } ?? lines.endIndex
            lines.replaceSubrange(title..<end, with: section.lines(instead: lines[title..<end]))
        }
        if let place = lines.firstIndex(where: { $0.hasPrefix("Measured on ") }) {
            lines[place] = "Measured on \(report.machine.description)."
        }
        try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
        try report.drawChart(in: file.deletingLastPathComponent())
    }
}

extension Report.Section {
    /// The lines of the section with this summary and table, and with the other paragraphs of an earlier one.
    fileprivate func lines(instead earlier: ArraySlice<String>) -> [String] {
        let paragraphs = earlier.split(separator: "", omittingEmptySubsequences: true).map(Array.init)
        let others = paragraphs.dropFirst(2).filter { $0.first?.hasPrefix("|") == false }
        return ([["### \(name)"], [summary]] + others + [table]).flatMap { $0 + [""] }
    }
}
