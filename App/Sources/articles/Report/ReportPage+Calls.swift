import ConcurrencyPrimitives
import Foundation
import NetworkCore
import NetworkRecording

/// The list of calls, with their details.
extension ReportPage {
    /// The most bytes of a body that are shown.
    private static let bodyLimit = 4_096

    var callSection: HTML {
        """
        <section aria-labelledby="calls"><h2 id="calls">Requests</h2>
        \(filters)
        <p id="count" role="status" class="sub"></p>
        <div class="calls">
        \(calls.map(row))</div>
        \(omission)</section>
        """
    }

    private var omission: HTML {
        let calls: HTML? = omittedCalls == 0 ? nil : "<p>\(omittedCalls) more requests are not listed.</p>"
        let exchanges: HTML? =
            omittedExchanges == 0 ? nil : "<p>The fields and bodies of \(omittedExchanges) attempts were not kept.</p>"
        return "\(calls)\(exchanges)"
    }

    /// The filters are radio buttons whose effect is in the style sheet, so that they work without the script.
    private var filters: HTML {
        let kinds: [(id: HTML, name: String, count: Int)] = [
            ("all", "all", calls.count),
            ("refused", "token refused", calls.count(where: \.isRefused)),
            ("refresh", "refreshes", calls.count(where: \.isRefresh)),
            ("retried", "retried after a failure", calls.count(where: \.isRetried)),
            ("failed", "failed", calls.count(where: \.isFailed)),
        ]
        let buttons = kinds.map { kind -> HTML in
            let checked: HTML = kind.name == "all" ? " checked" : ""
            return """
                <input type="radio" name="filter" id="only-\(kind.id)" value="\(kind.id)"\(checked)>\
                <label for="only-\(kind.id)">\(kind.name) <span>\(kind.count)</span></label>

                """
        }
        return "<fieldset class=\"filters\"><legend>Show</legend>\n\(buttons)</fieldset>"
    }

    private func row(_ call: Call) -> HTML {
        let span = call.span
        var kinds: [HTML] = []
        if call.isRefused { kinds.append(" refused") }
        if call.isRefresh { kinds.append(" refresh") }
        if call.isRetried { kinds.append(" retried") }
        if call.isFailed { kinds.append(" failed") }
        let outcome = span.outcome.isEmpty ? "no response" : span.outcome
        let duration = span.end.map { ($0 - span.start).inWords } ?? "not ended"
        return """
            <details class="call\(kinds)" id="call-\(call.number)"><summary>\
            <span class="name"><b>\(span.method)</b> \(span.path.isEmpty ? "/" : span.path)</span>\
            <svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">\(bars(of: span, y: 0, height: 10))</svg>\
            <span class="outcome">\(outcome)</span><span class="time">\(duration)</span></summary>
            <div class="body">
            \(facts(of: call))
            \(attempts(of: span))
            \(call.exchanges.map(exchange))
            </div></details>

            """
    }

    private func facts(of call: Call) -> HTML {
        var facts: [HTML] = ["Started \((call.span.start - scale.start).inWords) after the first request"]
        if let bytes = call.span.bytes { facts.append("\(bytes) bytes received") }
        if let refresh = call.servedBy {
            facts.append("its token was refused; <a href=\"#call-\(refresh)\">refresh \(refresh)</a> served it")
        }
        if !call.served.isEmpty {
            let count = call.served.count
            facts.append("it served \(count) refused request\(count == 1 ? "" : "s")")
        }
        if let problem = call.span.problem { facts.append("\(problem)") }
        return "<p>\(call.number). \(facts.enumerated().map { $0 == 0 ? $1 : "; \($1)" }).</p>"
    }

    private func attempts(of span: CallSpan) -> HTML {
        func cell(_ duration: Duration?) -> HTML { "<td>\(duration.map(\.inWords) ?? "–")</td>" }
        let rows = span.attempts.enumerated().map { index, attempt -> HTML in
            let isRefused = attempt.isRefusal && index < span.attempts.count - 1
            let problem = isRefused ? "token refused" : attempt.status == nil ? attempt.problem : nil
            let pause = attempt.pause.flatMap { $0 > .zero ? "again after \($0.inWords)" : nil }
            let notes = [problem, pause].compactMap(\.self)
            return """
                <tr><th scope="row">\(index + 1)</th>\(cell(attempt.start - scale.start))\
                <td>\(attempt.status.map(String.init) ?? "–")</td>\(cell(attempt.timings?.token))\
                \(cell(attempt.timings?.connection))\(cell(attempt.timings?.firstByte))\(cell(attempt.timings?.body))\
                <td>\(notes.joined(separator: ", "))</td></tr>

                """
        }
        guard !rows.isEmpty else { return "<p>Nothing was sent.</p>" }
        return """
            <div class="scroll" tabindex="0" role="region" aria-label="attempts"><table><thead><tr>\
            <th scope="col">attempt</th><th scope="col">sent at</th><th scope="col">status</th>\
            <th scope="col">token</th><th scope="col">connection</th><th scope="col">first byte</th>\
            <th scope="col">body</th><th scope="col">note</th></tr></thead><tbody>
            \(rows)</tbody></table></div>
            """
    }

    private func exchange(_ exchange: ExchangeRecorder.Exchange) -> HTML {
        let entry = exchange.entry
        let received = entry.response.content
        return """
            <details class="exchange"><summary>attempt \(exchange.attempt): fields and bodies</summary>
            <h3>Request</h3>
            <pre tabindex="0">\(entry.request.method) \(entry.request.url)
            \(fields(entry.request.headers))</pre>
            \(body(entry.request.postData?.text, of: entry.request.bodySize))
            <h3>Response</h3>
            <pre tabindex="0">\(entry.response.status == 0 ? "none" : "\(entry.response.status)")
            \(fields(entry.response.headers))</pre>
            \(body(received.encoding == nil ? received.text : nil, of: received.size))
            </details>

            """
    }

    private func fields(_ pairs: [HTTPArchive.Pair]) -> HTML {
        "\(pairs.map { "\($0.name): \($0.value)" }.joined(separator: "\n"))"
    }

    private func body(_ text: String?, of size: Int) -> HTML? {
        guard size > 0 else { return nil }
        guard let text, !text.isEmpty else { return "<p class=\"sub\">body of \(size) bytes, not shown</p>" }
        let isCut = text.utf8.count > Self.bodyLimit
        let shown = isCut ? String(decoding: text.utf8.prefix(Self.bodyLimit), as: UTF8.self) : text
        let note: HTML? = isCut ? "<p class=\"sub\">the first \(Self.bodyLimit) of \(text.utf8.count) bytes</p>" : nil
        return "<pre tabindex=\"0\">\(shown)</pre>\(note)"
    }
}
