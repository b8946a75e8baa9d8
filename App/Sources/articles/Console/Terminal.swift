import Foundation

/// The abilities of standard output.
struct Terminal: Sendable, Hashable {
    /// Whether a line can be drawn again.
    var isInteractive: Bool

    /// Whether colors may be used: on a terminal, unless `NO_COLOR` is set.
    var hasColor: Bool

    /// The number of columns, from 60 to 160.
    var width: Int

    init(isInteractive: Bool, hasColor: Bool = false, width: Int = 100) {
        self.isInteractive = isInteractive
        self.hasColor = hasColor
        self.width = min(max(width, 60), 160)
    }

    /// The abilities of this process's standard output.
    static func current(environment: [String: String] = ProcessInfo.processInfo.environment) -> Terminal {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let isDumb = environment["TERM"] == "dumb"
        let forbidsColor = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        let width = environment["COLUMNS"].flatMap { Int($0) } ?? (isTerminal ? windowWidth : nil)
        return Terminal(
            isInteractive: isTerminal && !isDumb,
            hasColor: isTerminal && !isDumb && !forbidsColor,
            width: width ?? 100
        )
    }

    private static var windowWidth: Int? {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// The text in bold, where colors may be used.
    func bold(_ text: String) -> String { hasColor ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

    /// The text in yellow, where colors may be used.
    func highlighted(_ text: String) -> String { hasColor ? "\u{1B}[33m\(text)\u{1B}[0m" : text }

    /// The text in gray, where colors may be used.
    func faint(_ text: String) -> String { hasColor ? "\u{1B}[2m\(text)\u{1B}[0m" : text }
}
