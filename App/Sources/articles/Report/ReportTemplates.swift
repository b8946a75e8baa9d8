import ArticlesWeb

/// The parts of the page of `--report`, which are files beside this one.
enum ReportTemplates {
    /// Colors are chosen for a contrast of at least 4.5 to 1 of text, and 3 to 1 of bars.
    static let style = String(decoding: PackageResources.report_css, as: UTF8.self)

    /// What the page can do beyond reading: count what a filter shows, and open the request that a link names.
    static let script = String(decoding: PackageResources.report_js, as: UTF8.self)

    /// The compiled templates. In the file each follows a line with its name, `=== page`.
    static let library: MarkupTemplates = {
        var templates: [String: [Substring]] = [:]
        var name = ""
        let text = String(decoding: PackageResources.report_html.dropLast(), as: UTF8.self)
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("=== ") {
                name = String(line.dropFirst(4))
            } else {
                templates[name, default: []].append(line)
            }
        }
        return MarkupTemplates(templates.mapValues { $0.joined(separator: "\n") })
    }()
}
