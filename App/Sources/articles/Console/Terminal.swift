import Foundation

/// What standard output can show.
struct Terminal: Sendable, Hashable {
    /// Whether a line can be drawn again.
    var isInteractive: Bool

    /// Whether colours may be used: on a terminal, unless `NO_COLOR` is set.
    var hasColor: Bool

    /// The columns of a line, from 60 to 160.
    var width: Int

    init(isInteractive: Bool, hasColor: Bool = false, width: Int = 100) {
        self.isInteractive = isInteractive
        self.hasColor = hasColor
        self.width = min(max(width, 60), 160)
    }

    /// Standard output as it is.
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

    /// A text in bold, where that can be shown.
    func bold(_ text: String) -> String { hasColor ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

    /// A text in yellow, where that can be shown.
    func highlighted(_ text: String) -> String { hasColor ? "\u{1B}[33m\(text)\u{1B}[0m" : text }

    /// A text in grey, where that can be shown.
    func faint(_ text: String) -> String { hasColor ? "\u{1B}[2m\(text)\u{1B}[0m" : text }
}
