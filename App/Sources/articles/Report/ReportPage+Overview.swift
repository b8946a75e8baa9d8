import ConcurrencyPrimitives
import Foundation

/// The numbers, the claims and the picture above the list.
extension ReportPage {
    var figures: HTML {
        let spans = calls.map(\.span)
        let bytes = spans.compactMap(\.bytes).reduce(0, +)
        let numbers: [(String, String)] = [
            ("requests", "\(calls.count + omittedCalls)"),
            ("attempts", "\(spans.reduce(0) { $0 + $1.attempts.count })"),
            ("token refused", "\(calls.count(where: \.isRefused))"),
            ("refreshes", "\(calls.count(where: \.isRefresh))"),
            ("failed", "\(calls.count(where: \.isFailed))"),
            ("received", bytes.inKilobytes),
            ("in all", scale.length.inWords),
        ]
        let items = numbers.map { name, value -> HTML in
            "<div><dt>\(name)</dt><dd>\(value)</dd></div>"
        }
        return "<dl class=\"figures\">\(items)</dl>"
    }

    /// What the command has shown, before every number.
    var verdictText: HTML {
        guard let verdict else { return "" }
        let kind: HTML = verdict.holds ? "yes" : "no"
        return "<p class=\"verdict \(kind)\">\(verdict.text)</p>"
    }

    var claimSection: HTML {
        guard let verdict else { return "" }
        let items = verdict.claims.map { claim -> HTML in
            let mark: HTML =
                claim.holds ? "<span class=\"mark yes\">holds</span>" : "<span class=\"mark no\">fails</span>"
            return "<li>\(mark)<div><p>\(claim.name)</p><p class=\"sub\">\(claim.observed)</p></div></li>\n"
        }
        return """
            <section aria-labelledby="claims"><h2 id="claims">Claims</h2>
            <ul class="claims">
            \(items)</ul></section>
            """
    }

    /// All calls as thin bars, in the order of the list.
    var overview: HTML {
        guard !calls.isEmpty else { return "" }
        let height = max(2, min(14, 320 / calls.count))
        // As in the waterfall of the terminal: the calls above a refresh waited for it, those below came after it.
        let ordered = calls.sorted { $0.position < $1.position }
        let refreshes = ordered.enumerated().filter { $0.element.isRefresh }
        let rows = ordered.enumerated().map { index, call in
            bars(of: call.span, y: index * height, height: height > 3 ? height - 1 : height)
        }
        // The band is behind the bars, which keep the colors of the legend.
        let bands = refreshes.map { _, call -> HTML in
            let (x, width) = place(call.span.start, call.span.end)
            return "<rect class=\"band\" x=\"\(x)\" y=\"0\" width=\"\(width)\" height=\"\(calls.count * height)\"/>"
        }
        let marks = refreshes.map { index, call -> HTML in
            let (x, width) = place(call.span.start, call.span.end)
            let y = max(0, index * height - 3)
            return "<rect class=\"refresh\" x=\"\(x)\" y=\"\(y)\" width=\"\(width)\" height=\"\(max(8, height))\"/>"
        }
        let text =
            "\(calls.count) requests as bars over \(scale.length.inWords), \(refreshes.count) of them refreshes; "
            + "the list below has the same in words"
        return """
            <section aria-labelledby="overview"><h2 id="overview">All requests over time</h2>
            <div class="axis" aria-hidden="true">\(axis)</div>
            <svg class="overview" role="img" aria-label="\(text)" viewBox="0 0 1000 \(calls.count * height)" \
            preserveAspectRatio="none" height="\(calls.count * height)">
            \(bands)\(rows)\(marks)</svg>
            \(legend)</section>
            """
    }

    private var axis: HTML {
        let ticks = (0...4).map { tick -> HTML in "<span>\((scale.length * tick / 4).inWords)</span>" }
        return "\(ticks)"
    }

    private var legend: HTML {
        let kinds: [(HTML, String)] = [
            ("failing", "attempt that fails"), ("waiting", "waiting for a token"),
            ("succeeding", "attempt that succeeds"), ("refresh", "refresh"),
        ]
        let items = kinds.map { kind, name -> HTML in
            "<li><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\">"
                + "<rect class=\"\(kind)\" width=\"12\" height=\"12\" rx=\"2\"/></svg>\(name)</li>"
        }
        return "<ul class=\"legend\">\(items)</ul>"
    }

    /// The bars of a call's attempts, and of the waits between them.
    func bars(of span: CallSpan, y: Int, height: Int) -> HTML {
        var pieces: [HTML] = []
        func add(_ kind: HTML, _ start: Duration, _ end: Duration?) {
            let (x, width) = place(start, end)
            pieces.append(
                "<rect class=\"\(kind)\" x=\"\(x)\" y=\"\(y)\" width=\"\(width)\" height=\"\(height)\"/>")
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
        return "\(pieces)"
    }

    /// The place of a time in thousandths of the width.
    private func place(_ start: Duration, _ end: Duration?) -> (x: String, width: String) {
        let x = 1_000 * ((start - scale.start) / scale.length)
        let width = 1_000 * (((end ?? scale.end) - start) / scale.length)
        return (Self.decimal(min(x, 997)), Self.decimal(max(width, 3)))
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

extension HTML {
    static func + (first: HTML, second: HTML) -> HTML { "\(first)\(second)" }
}
