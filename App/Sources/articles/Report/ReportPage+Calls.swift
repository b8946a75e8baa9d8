import ConcurrencyPrimitives
import Foundation
import NetworkCore
import NetworkRecording

/// The list of calls, with their details.
extension ReportPage {
    private static let bodyLimit = 4_096

    /// The kinds of calls that can be shown alone.
    private static let kinds: [(id: String, name: String, matches: @Sendable (Call) -> Bool)] = [
        ("refused", "token refused", { $0.isRefused }), ("refresh", "refreshes", { $0.isRefresh }),
        ("retried", "retried after a failure", { $0.isRetried }), ("failed", "failed", { $0.isFailed }),
    ]

    var filters: [[String: Any]] {
        let all: [String: Any] = ["id": "all", "name": "all", "count": calls.count]
        return [all] + Self.kinds.map { ["id": $0.id, "name": $0.name, "count": calls.count(where: $0.matches)] }
    }

    func members(of call: Call) -> [String: Any] {
        let span = call.span
        let count = call.served.count
        return members([
            "number": call.number, "kinds": Self.kinds.filter { $0.matches(call) }.map(\.id),
            "method": span.method, "path": span.path.isEmpty ? "/" : span.path,
            "bars": bars(of: span, y: 0, height: 10),
            "outcome": span.outcome.isEmpty ? "no response" : span.outcome,
            "duration": span.end.map { ($0 - span.start).inWords } ?? "not ended",
            "started": (span.start - scale.start).inWords, "bytes": span.bytes,
            "servedBy": call.servedBy,
            "served": count == 0 ? nil : "\(count) refused request\(count == 1 ? "" : "s")",
            "problem": span.problem,
            "isSent": !span.attempts.isEmpty, "attempts": attempts(of: span),
            "exchanges": call.exchanges.map { exchange in
                ["number": exchange.attempt, "messages": messages(of: exchange.entry)] as [String: Any]
            },
        ])
    }

    private func attempts(of span: CallSpan) -> [[String: Any]] {
        span.attempts.enumerated().map { index, attempt in
            let isRefused = attempt.isRefusal && index < span.attempts.count - 1
            let problem = isRefused ? "token refused" : attempt.status == nil ? attempt.problem : nil
            let pause = attempt.pause.flatMap { $0 > .zero ? "again after \($0.inWords)" : nil }
            let timings = attempt.timings
            let cells: [String?] = [
                (attempt.start - scale.start).inWords, attempt.status.map(String.init), timings?.token?.inWords,
                timings?.connection?.inWords, timings?.firstByte?.inWords, timings?.body?.inWords,
                [problem, pause].compactMap(\.self).joined(separator: ", "),
            ]
            return ["number": index + 1, "cells": cells.map { $0 ?? "–" }]
        }
    }

    private func messages(of entry: HTTPArchive.Entry) -> [[String: Any]] {
        let (request, response) = (entry.request, entry.response)
        let received = response.content
        return [
            message(
                "Request", "\(request.method) \(request.url)", request.headers, body: request.postData?.text,
                of: request.bodySize),
            message(
                "Response", response.status == 0 ? "none" : "\(response.status)", response.headers,
                body: received.encoding == nil ? received.text : nil, of: received.size),
        ]
    }

    private func message(
        _ name: String, _ line: String, _ fields: [HTTPArchive.Pair], body: String?, of size: Int
    ) -> [String: Any] {
        let shown = body.flatMap { $0.isEmpty || size == 0 ? nil : $0.utf8.prefix(Self.bodyLimit) }
        var note: String?
        if let body, let shown, shown.count < body.utf8.count {
            note = "the first \(shown.count) of \(body.utf8.count) bytes"
        } else if shown == nil, size > 0 {
            note = "body of \(size) bytes, not shown"
        }
        return members([
            "name": name,
            "head": ([line] + fields.map { "\($0.name): \($0.value)" }).joined(separator: "\n"),
            "shown": shown.map { String(decoding: $0, as: UTF8.self) }, "note": note,
        ])
    }
}
