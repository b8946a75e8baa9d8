/// Draws calls as bars over time, one row each, or one row for many that did the same.
///
/// It is a pure function of the calls: the same calls give the same text.
struct Waterfall {
    /// The most rows that calls of one kind in a row get before they are drawn together.
    static let rowLimit = 12

    var terminal: Terminal

    /// The picture, line by line. Empty where there is nothing to draw.
    func lines(for spans: [CallSpan]) -> [String] {
        guard let start = spans.map(\.start).min(), let end = spans.map({ $0.end ?? $0.start }).max() else { return [] }
        let scale = TimeScale(start: start, end: max(end, start + .milliseconds(1)), columns: barWidth)
        return [axis(scale)] + Self.rows(of: spans).map { draw($0, scale) } + legend
    }

    /// Calls that share a row: one, or several of a kind that began one after another.
    struct Row: Hashable {
        var spans: [CallSpan]
        var title: String

        /// What orders the rows: when a call began, and when the first of many had its first answer. So the rows above
        /// a refresh waited for it, and those below it came late.
        var position: Duration {
            let first = spans.first
            return (spans.count > 1 ? first?.attempts.first?.end : nil) ?? first?.start ?? .zero
        }

        /// Whether tokens were renewed here.
        var isRefresh: Bool { spans.first.map { $0.isRefresh && $0.hasSucceeded } ?? false }
    }

    /// Sorts calls into rows. A refresh never shares one: it is what the picture is about.
    static func rows(of spans: [CallSpan]) -> [Row] {
        var runs: [[CallSpan]] = []
        var refreshes: [CallSpan] = []
        for span in spans.sorted(by: { $0.start < $1.start }) {
            if span.isRefresh {
                refreshes.append(span)
            } else if let last = runs.last?.last, last.kind == span.kind {
                runs[runs.count - 1].append(span)
            } else {
                runs.append([span])
            }
        }
        let rows = runs.flatMap { condensed($0) } + refreshes.map { Row(spans: [$0], title: $0.title) }
        return rows.sorted { $0.position < $1.position }
    }

    /// A run of calls in at most ``rowLimit`` rows of the same number, but for the last.
    private static func condensed(_ run: [CallSpan]) -> [Row] {
        guard run.count > rowLimit else { return run.map { Row(spans: [$0], title: $0.title) } }
        let share = (run.count + rowLimit - 1) / rowLimit
        let run = run.sorted { $0.firstResponse < $1.firstResponse }
        return stride(from: 0, to: run.count, by: share).map { first in
            let part = Array(run[first..<min(first + share, run.count)])
            return Row(spans: part, title: "\(part[0].kind) × \(part.count)")
        }
    }

    private var isNarrow: Bool { terminal.width < 90 }
    private var titleWidth: Int { isNarrow ? 18 : 27 }
    private var outcomeWidth: Int { isNarrow ? 10 : 14 }
    private var timeWidth: Int { 8 }
    private var barWidth: Int { terminal.width - titleWidth - outcomeWidth - timeWidth - 7 }

    private func axis(_ scale: TimeScale) -> String {
        let end = scale.length.inMilliseconds
        let title = "".fitted(to: titleWidth)
        return "  \(title)  0 ms\(end.leftPadded(to: scale.columns - 4))"
    }

    private func draw(_ row: Row, _ scale: TimeScale) -> String {
        let bar = String((0..<scale.columns).map { symbol(for: row, during: scale.interval($0)) })
        let mark = row.isRefresh ? "»" : " "
        let time = row.duration.inMilliseconds.leftPadded(to: timeWidth)
        let title = row.title.fitted(to: titleWidth)
        let line = "\(mark) \(title)  \(bar)  \(row.outcome.fitted(to: outcomeWidth))\(time)"
        return row.isRefresh ? terminal.highlighted(line) : line
    }

    /// What a row shows in one column: what most of its calls do in the middle of it. A row of one call shows even
    /// what is shorter than a column.
    private func symbol(for row: Row, during interval: TimeScale.Interval) -> Character {
        if row.spans.count == 1, let span = row.spans.first {
            let phase = span.phase(at: interval.middle)
            let isShort = (span.end ?? span.start) - span.start < interval.end - interval.start
            guard phase == .none, isShort, span.start >= interval.start, span.start < interval.end else {
                return phase.symbol(isRefresh: span.isRefresh)
            }
            return (span.hasSucceeded ? CallSpan.Phase.answered : .refused).symbol(isRefresh: span.isRefresh)
        }
        let phases = Dictionary(grouping: row.spans.map { $0.phase(at: interval.middle) }, by: \.self)
        let order: [CallSpan.Phase] = [.answered, .refused, .waiting, .none]
        // Of two that are as common, the earlier of the list is shown.
        let most = order.reversed().max { (phases[$0]?.count ?? 0) <= (phases[$1]?.count ?? 0) }
        return (most ?? .none).symbol(isRefresh: false)
    }

    private var legend: [String] {
        let halves = ["░ sent, will be refused   · waits for a token", "█ sent, will be answered   » ▓ the refresh"]
        return (isNarrow ? halves : [halves.joined(separator: "   ")]).map { terminal.faint("  \($0)") }
    }
}

extension Waterfall.Row {
    /// From the first begin to the last end.
    var duration: Duration {
        let start = spans.map(\.start).min() ?? .zero
        return (spans.compactMap(\.end).max() ?? start) - start
    }

    /// How the calls ended; several ways with their number.
    var outcome: String {
        let counts = Dictionary(grouping: spans, by: \.outcome).mapValues(\.count)
        guard counts.count > 1 else { return counts.keys.first ?? "" }
        let most = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return most.prefix(2).map { "\($0.key) ×\($0.value)" }.joined(separator: ", ")
    }
}

extension CallSpan {
    fileprivate var title: String { "\(method) \(path)" }

    fileprivate var firstResponse: Duration { attempts.first?.end ?? start }

    /// What calls must have in common to share a row: the method and what the path begins with.
    fileprivate var kind: String { "\(method) \(path.prefix { $0 != "/" })" }
}

extension CallSpan.Phase {
    fileprivate func symbol(isRefresh: Bool) -> Character {
        switch self {
        case .none: " "
        case .waiting: "·"
        case .refused: "░"
        case .answered: isRefresh ? "▓" : "█"
        }
    }
}
