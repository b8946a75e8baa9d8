import NIOConcurrencyHelpers
import NetworkCore

/// Shows the progress of a transfer, on a terminal: one line that is drawn again.
///
/// Bytes that were sent lie in buffers of the system until the server reads them. So it is 100 % only once the transfer
/// is known to have succeeded: ``finish()``.
final class ProgressBar: Sendable {
    private let title: String
    private let console: Console
    private let shown = NIOLockedValueBox((step: -1, progress: TransferProgress?.none))

    init(_ title: String, on console: Console) {
        self.title = title
        self.console = console
    }

    /// Shows progress. It can be called on any thread.
    func show(_ progress: TransferProgress) {
        guard let fraction = progress.fraction else { return }
        let step = Int(fraction * 100)
        let isNew = shown.withLockedValue { shown in
            defer { (shown.step, shown.progress) = (max(shown.step, step), progress) }
            return step > shown.step
        }
        if isNew { draw(progress, isConfirmed: false) }
    }

    /// Shows that the transfer has succeeded. Nothing is shown of one without progress.
    func finish() {
        let last = shown.withLockedValue { shown in
            // Progress that is reported late is not shown any more.
            shown.step = .max
            return shown.progress
        }
        guard let total = last?.total else { return }
        draw(TransferProgress(completed: total, total: total), isConfirmed: true)
    }

    private func draw(_ progress: TransferProgress, isConfirmed: Bool) {
        let width = console.progressTerminal.width
        console.redraw(Self.line(title, progress, width: width, isConfirmed: isConfirmed), isLast: isConfirmed)
    }

    /// The bar as text: `upload  ████████░░░░░░░░   50 %  120 kB of 240 kB`.
    /// Unless the transfer is confirmed to have succeeded, it is 99 % at most.
    static func line(_ title: String, _ progress: TransferProgress, width: Int, isConfirmed: Bool) -> String {
        let fraction = progress.fraction ?? 0
        let cells = min(max(width - 50, 10), 40)
        let full = Int((fraction * Double(cells)).rounded(.down))
        let bar = String(repeating: "█", count: full) + String(repeating: "░", count: cells - full)
        let percent = String(isConfirmed ? Int(fraction * 100) : min(99, Int(fraction * 100))).leftPadded(to: 3)
        let wait = fraction >= 1 && !isConfirmed ? ", waiting" : ""
        let total = progress.total.map { " of \($0.inKilobytes)" } ?? ""
        return "  \(title)  \(bar)  \(percent) %  \(progress.completed.inKilobytes)\(total)\(wait)"
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
    func leftPadded(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
