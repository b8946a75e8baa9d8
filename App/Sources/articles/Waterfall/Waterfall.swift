import ConcurrencyPrimitives

/// Draws calls as bars over time, one row each, or one row for many calls of one kind.
///
/// The text depends on nothing but the calls and the terminal.
struct Waterfall {
    /// The most rows for consecutive calls of one kind. More calls share rows.
    static let rowLimit = 12

    let terminal: Terminal

    /// The legend and the picture, line by line; empty without calls.
    func lines(for spans: [CallSpan]) -> [String] {
        guard !spans.isEmpty else { return [] }
        let scale = TimeScale(of: spans, columns: barWidth)
        return legend + [axis(scale)] + Self.rows(of: spans).map { draw($0, scale) }
    }

    /// The calls of a row: one call, or consecutive calls of one kind.
    struct Row: Hashable {
        var spans: [CallSpan]
        var title: String

        /// The order of rows: the start of a call; of several calls, the first response. So the rows above a refresh
        /// waited for it, and those below it came after it.
        var position: Duration {
            let first = spans.first
            return (spans.count > 1 ? first?.attempts.first?.end : nil) ?? first?.start ?? .zero
        }

        var isRefresh: Bool { spans.first.map { $0.isRefresh && $0.hasSucceeded } ?? false }
    }

    /// Groups calls into rows. Each refresh has a row.
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

    /// Consecutive calls in at most ``rowLimit`` rows, each of the same number of calls except the last.
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
        let end = scale.length.inWords
        let title = "".fitted(to: titleWidth)
        return "  \(title)  0 ms\(end.leftPadded(to: scale.columns - 4))"
    }

    private func draw(_ row: Row, _ scale: TimeScale) -> String {
        let bar = painted((0..<scale.columns).map { symbol(for: row, during: scale.interval($0)) })
        let time = row.duration.inWords.leftPadded(to: timeWidth)
        let title = "\(row.isRefresh ? "»" : " ") \(row.title.fitted(to: titleWidth))"
        let name = row.isRefresh ? terminal.styled(title, .magenta) : title
        return "\(name)  \(bar)  \(row.outcome.fitted(to: outcomeWidth))\(time)"
    }

    /// Symbols in the colors of their phases.
    private func painted(_ symbols: [Character]) -> String {
        var bar = ""
        var rest = symbols[...]
        while let first = rest.first {
            let run = rest.prefix { $0 == first }
            bar += CallSpan.Phase.style(of: first).map { terminal.styled(String(run), $0) } ?? String(run)
            rest = rest.dropFirst(run.count)
        }
        return bar
    }

    /// The symbol of a row in one column: the most common phase of its calls at the middle of the interval. A row of
    /// one call also shows a call that is shorter than a column.
    private func symbol(for row: Row, during interval: Range<Duration>) -> Character {
        let length = interval.upperBound - interval.lowerBound
        let middle = interval.lowerBound + length / 2
        if row.spans.count == 1, let span = row.spans.first {
            let phase = span.phase(at: middle)
            let isShort = (span.end ?? span.start) - span.start < length
            guard phase == .none, isShort, interval.contains(span.start) else {
                return phase.symbol(isRefresh: span.isRefresh)
            }
            return (span.hasSucceeded ? CallSpan.Phase.succeeding : .failing).symbol(isRefresh: span.isRefresh)
        }
        let phases = Dictionary(grouping: row.spans.map { $0.phase(at: middle) }, by: \.self)
        let order: [CallSpan.Phase] = [.succeeding, .failing, .waiting, .none]
        // Of equally common phases, the earlier in the list is shown.
        let most = order.reversed().max { (phases[$0]?.count ?? 0) <= (phases[$1]?.count ?? 0) }
        return (most ?? .none).symbol(isRefresh: false)
    }

    private var legend: [String] {
        let kinds: [(Character, String)] = [
            ("░", "attempt that fails"), ("·", "waiting for a token"), ("█", "attempt that succeeds"), ("▓", "refresh"),
        ]
        let entries = kinds.map { symbol, name in
            painted([symbol]) + " " + terminal.faint(name) + (symbol == "▓" ? terminal.faint(", marked »") : "")
        }
        let lines = terminal.width < 100 ? [entries[..<2], entries[2...]] : [entries[...]]
        return lines.map { "  " + $0.joined(separator: "   ") }
    }
}

extension Waterfall.Row {
    /// The time from the first start to the last end.
    var duration: Duration {
        let start = spans.map(\.start).min() ?? .zero
        return (spans.compactMap(\.end).max() ?? start) - start
    }

    /// The outcome of the calls; the two most common ones with their numbers, if they differ.
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

    /// Calls of one kind share rows: the method and the first component of the path.
    fileprivate var kind: String { "\(method) \(path.prefix { $0 != "/" })" }
}

extension CallSpan.Phase {
    fileprivate func symbol(isRefresh: Bool) -> Character {
        switch self {
        case .none: " "
        case .waiting: "·"
        case .failing: "░"
        case .succeeding: isRefresh ? "▓" : "█"
        }
    }

    /// The color of a symbol, as in the report.
    fileprivate static func style(of symbol: Character) -> Terminal.Style? {
        switch symbol {
        case "░": .yellow
        case "·": .faint
        case "█": .green
        case "▓": .magenta
        default: nil
        }
    }
}

/// A time interval, divided into the columns of a picture.
struct TimeScale: Hashable {
    let start: Duration
    let end: Duration
    let columns: Int

    /// The time from the first start to the last end of calls: a millisecond at least.
    init(of spans: [CallSpan], columns: Int = 1) {
        start = spans.map(\.start).min() ?? .zero
        end = max(spans.map { $0.end ?? $0.start }.max() ?? start, start + .milliseconds(1))
        self.columns = columns
    }

    var length: Duration { end - start }

    func interval(_ column: Int) -> Range<Duration> {
        (start + length * column / columns)..<(start + length * (column + 1) / columns)
    }
}
