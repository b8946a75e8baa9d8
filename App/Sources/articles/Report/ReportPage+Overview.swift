import ConcurrencyPrimitives
import Foundation

/// The numbers, the claims and the picture above the list.
extension ReportPage {
    var figures: [[String: Any]] {
        let spans = calls.map(\.span)
        let numbers = [
            ("requests", "\(calls.count + omittedCalls)"),
            ("attempts", "\(spans.reduce(0) { $0 + $1.attempts.count })"),
            ("token refused", "\(calls.count(where: \.isRefused))"),
            ("refreshes", "\(calls.count(where: \.isRefresh))"),
            ("failed", "\(calls.count(where: \.isFailed))"),
            ("received", spans.compactMap(\.bytes).reduce(0, +).inKilobytes),
            ("in all", scale.length.inWords),
        ]
        return numbers.map { ["name": $0, "value": $1] }
    }

    func members(of verdict: Claims.Verdict) -> [String: Any] {
        let claims = verdict.claims.map { claim in
            [
                "kind": claim.holds ? "yes" : "no", "mark": claim.holds ? "holds" : "fails", "name": claim.name,
                "observed": claim.observed,
            ]
        }
        return ["kind": verdict.holds ? "yes" : "no", "text": verdict.text, "claims": claims]
    }

    /// All calls as thin bars, in the order of the list.
    var overview: [String: Any]? {
        guard !calls.isEmpty else { return nil }
        let height = max(2, min(14, 320 / calls.count))
        // As in the waterfall of the terminal: the calls above a refresh waited for it, those below came after it.
        let ordered = calls.sorted { $0.position < $1.position }
        let refreshes = ordered.enumerated().filter { $0.element.isRefresh }
        let rows = ordered.enumerated().flatMap { index, call in
            bars(of: call.span, y: index * height, height: height > 3 ? height - 1 : height)
        }
        // The band is behind the bars, which keep the colors of the legend.
        let bands = refreshes.map { _, call in
            bar("band", call.span.start, call.span.end, y: 0, height: calls.count * height)
        }
        let marks = refreshes.map { index, call in
            bar("refresh", call.span.start, call.span.end, y: max(0, index * height - 3), height: max(8, height))
        }
        let legend = [
            ("failing", "attempt that fails"), ("waiting", "waiting for a token"),
            ("succeeding", "attempt that succeeds"), ("refresh", "refresh"),
        ]
        return [
            "text": "\(calls.count) requests as bars over \(scale.length.inWords), \(refreshes.count) of them "
                + "refreshes; the list below has the same in words",
            "ticks": (0...4).map { (scale.length * $0 / 4).inWords },
            "height": calls.count * height, "bars": bands + rows + marks,
            "legend": legend.map { ["kind": $0, "name": $1] },
        ]
    }

    /// The bars of a call's attempts, and of the waits between them.
    func bars(of span: CallSpan, y: Int, height: Int) -> [[String: Any]] {
        var bars: [[String: Any]] = []
        func add(_ kind: String, _ start: Duration, _ end: Duration?) {
            bars.append(bar(kind, start, end, y: y, height: height))
        }
        var position = span.start
        for (index, attempt) in span.attempts.enumerated() {
            if attempt.start > position { add("waiting", position, attempt.start) }
            let isLast = index == span.attempts.count - 1
            // The bar of a response that succeeds includes its body.
            let end = isLast ? span.end ?? attempt.end : attempt.end
            let succeeds = isLast && span.hasSucceeded
            add(succeeds ? (span.isRefresh ? "refresh" : "succeeding") : "failing", attempt.start, end)
            position = end ?? attempt.start
        }
        if let end = span.end, end > position { add("waiting", position, end) }
        return bars
    }

    /// A bar whose place is in thousandths of the width.
    private func bar(_ kind: String, _ start: Duration, _ end: Duration?, y: Int, height: Int) -> [String: Any] {
        let x = 1_000 * ((start - scale.start) / scale.length)
        let width = 1_000 * (((end ?? scale.end) - start) / scale.length)
        return [
            "kind": kind, "x": Self.decimal(min(x, 997)), "y": y, "width": Self.decimal(max(width, 3)),
            "height": height,
        ]
    }

    private static func decimal(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10))"
    }
}

extension ReportPage.Call {
    /// The order in the picture: the first response, or of a refresh the start.
    fileprivate var position: Duration { (span.isRefresh ? nil : span.attempts.first?.end) ?? span.start }
}
