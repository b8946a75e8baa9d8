import NIOConcurrencyHelpers
import NetworkCore

/// Shows the progress of an upload: one line that is drawn again on a terminal, a line for each quarter elsewhere.
final class ProgressBar: Sendable {
    private let title: String
    private let console: Console
    private let shown = NIOLockedValueBox(-1)

    init(_ title: String, on console: Console) {
        self.title = title
        self.console = console
    }

    /// Shows progress. It can be called on any thread.
    func show(_ progress: TransferProgress) {
        guard let fraction = progress.fraction else { return }
        let steps = console.progressTerminal.isInteractive ? 100 : 4
        let step = Int(fraction * Double(steps))
        let isNew = shown.withLockedValue { shown in
            defer { shown = max(shown, step) }
            return step > shown
        }
        guard isNew else { return }
        let line = Self.line(title, progress, width: console.progressTerminal.width)
        if console.progressTerminal.isInteractive {
            console.redraw(line, isLast: step == steps)
        } else {
            console.note(line)
        }
    }

    /// The bar as text: `upload  ████████░░░░░░░░   50 %  120 kB of 240 kB`.
    static func line(_ title: String, _ progress: TransferProgress, width: Int) -> String {
        let fraction = progress.fraction ?? 0
        let cells = min(max(width - 50, 10), 40)
        let full = Int((fraction * Double(cells)).rounded(.down))
        let bar = String(repeating: "█", count: full) + String(repeating: "░", count: cells - full)
        let percent = String(Int(fraction * 100)).leftPadded(to: 3)
        let total = progress.total.map { " of \($0.inKilobytes)" } ?? ""
        return "  \(title)  \(bar)  \(percent) %  \(progress.completed.inKilobytes)\(total)"
    }
}

extension BinaryInteger {
    /// A number of bytes as text for people, in kilobytes or megabytes.
    var inKilobytes: String {
        let bytes = Double(self)
        guard bytes >= 1_000_000 else { return "\(Int((bytes / 1_000).rounded())) kB" }
        return "\(Int(bytes / 1_000_000)).\(Int(bytes / 100_000) % 10) MB"
    }
}

extension String {
    /// The text with leading spaces.
    func leftPadded(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }

    /// The text with trailing spaces, or cut off with an ellipsis.
    func fitted(to width: Int) -> String {
        guard count > width else { return self + String(repeating: " ", count: width - count) }
        return prefix(max(0, width - 1)) + "…"
    }
}
