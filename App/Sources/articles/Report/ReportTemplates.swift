import ArticlesWeb

/// The parts of the page of `--report`, which are files beside this one.
enum ReportTemplates {
    /// Colors are chosen for a contrast of at least 4.5 to 1 of text, and 3 to 1 of bars.
    static let style = String(decoding: PackageResources.report_css, as: UTF8.self)

    /// What the page can do beyond reading: count what a filter shows, and open the request that a link names.
    static let script = String(decoding: PackageResources.report_js, as: UTF8.self)

    /// The compiled templates.
    static let library = MarkupTemplates(MarkupTemplates.sources(in: PackageResources.report_html))
}
