import ArticlesWeb
import Crypto
import Foundation
import NetworkCore

/// A page about the requests of a command: one file that loads nothing, and can be read without its script.
///
/// Everything that a server sent is escaped, and what is recorded is redacted before it comes here.
struct ReportPage {
    static let limit = 2_000

    let title: String
    let baseURL: String
    let startedAt: Date
    let calls: [Call]
    let omittedCalls: Int
    let omittedExchanges: Int
    let verdict: Claims.Verdict?
    let scale: TimeScale

    struct Call {
        let number: Int
        let span: CallSpan
        /// The exchanges of its attempts, in order.
        var exchanges: [ExchangeRecorder.Exchange] = []
        /// The number of the refresh whose tokens the last attempt had, if an earlier one was refused.
        var servedBy: Int?
        /// The numbers of the calls that a refresh served.
        var served: [Int] = []

        var isRefresh: Bool { span.isRefresh && span.hasSucceeded }
        var isRefused: Bool { span.attempts.dropLast().contains { $0.isRefusal } || servedBy != nil }
        var isRetried: Bool { span.attempts.count > 1 && !isRefused }
        var isFailed: Bool { !span.hasSucceeded }
    }

    init(
        title: String, baseURL: String, startedAt: Date, spans: [CallSpan],
        exchanges: [ExchangeRecorder.Exchange], omitted: Int, verdict: Claims.Verdict? = nil
    ) {
        self.title = title
        self.baseURL = baseURL
        self.startedAt = startedAt
        self.verdict = verdict
        scale = TimeScale(of: spans)
        omittedExchanges = omitted
        omittedCalls = max(0, spans.count - Self.limit)
        let byCall = Dictionary(grouping: exchanges, by: \.call)
        var calls = spans.prefix(Self.limit).enumerated().map { index, span in
            Call(number: index + 1, span: span, exchanges: span.id.flatMap { byCall[$0] } ?? [])
        }
        Self.connect(&calls)
        self.calls = calls
    }

    /// Finds the refresh that served each refused call: the last one that ended before its next attempt.
    private static func connect(_ calls: inout [Call]) {
        let refreshes = calls.indices.filter { calls[$0].span.isRefresh && calls[$0].span.hasSucceeded }
        for index in calls.indices where !calls[index].span.isRefresh {
            let attempts = calls[index].span.attempts
            guard let refused = attempts.dropLast().lastIndex(where: \.isRefusal) else { continue }
            let next = attempts[refused + 1].start
            let serving = refreshes.last { calls[$0].span.end.map { $0 <= next } ?? false }
            guard let serving else { continue }
            calls[index].servedBy = calls[serving].number
            calls[serving].served.append(calls[index].number)
        }
    }

    var html: String {
        let page = members([
            "policy": Self.policy, "style": ReportTemplates.style, "script": ReportTemplates.script, "title": title,
            "baseURL": baseURL, "startedAt": startedAt.formatted(.iso8601), "callCount": calls.count,
            "figures": figures, "overview": overview, "verdict": verdict.map(members), "filters": filters,
            "calls": calls.map(members), "omittedCalls": omittedCalls == 0 ? nil : omittedCalls,
            "omittedExchanges": omittedExchanges == 0 ? nil : omittedExchanges,
        ])
        return ReportTemplates.library.render(page, "page")
    }

    /// What a template names. A dictionary is read faster than the properties of a value.
    func members(_ members: [String: Any?]) -> [String: Any] { members.compactMapValues(\.self) }

    /// Only the style and the script of this page may run, and nothing is loaded.
    private static let policy =
        "default-src 'none'; style-src '\(hash(of: ReportTemplates.style))'; "
        + "script-src '\(hash(of: ReportTemplates.script))'; base-uri 'none'; form-action 'none'"

    private static func hash(of text: String) -> String {
        "sha256-" + Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString()
    }
}

extension CallSpan.Attempt {
    /// Whether the server refused the token, of an attempt that another one follows: the statuses of other failures
    /// that are tried again are left out (RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4).
    var isRefusal: Bool { status.map { (400...499).contains($0) && ![408, 425, 429].contains($0) } ?? false }
}

/// The parts of the page of `--report`, which are files beside this one.
enum ReportTemplates {
    /// Colors are chosen for a contrast of at least 4.5 to 1 of text, and 3 to 1 of bars.
    static let style = String(decoding: PackageResources.report_css, as: UTF8.self)

    /// What the page can do beyond reading: count what a filter shows, and open the request that a link names.
    static let script = String(decoding: PackageResources.report_js, as: UTF8.self)

    static let library = MarkupTemplates(MarkupTemplates.sources(in: PackageResources.report_html))
}
