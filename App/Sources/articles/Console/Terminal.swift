import Foundation

/// The abilities of standard output, or of standard error.
struct Terminal: Sendable, Hashable {
    /// Whether it is a terminal, and no file or pipe.
    var isTerminal: Bool

    /// Whether a line can be drawn again.
    var isInteractive: Bool

    /// Whether colors may be used: on a terminal, unless `NO_COLOR` is set.
    var hasColor: Bool

    /// The number of columns for bars, from 60 to 160.
    var width: Int

    /// The number of columns.
    var columns: Int

    init(isTerminal: Bool? = nil, isInteractive: Bool, hasColor: Bool = false, width: Int = 100) {
        self.isTerminal = isTerminal ?? isInteractive
        self.isInteractive = isInteractive
        self.hasColor = hasColor
        self.width = min(max(width, 60), 160)
        columns = width
    }

    /// The abilities of this process's standard output, or of another descriptor.
    static func current(
        _ descriptor: Int32 = STDOUT_FILENO,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Terminal {
        let isTerminal = isatty(descriptor) == 1
        let isDumb = environment["TERM"] == "dumb"
        let forbidsColor = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        let width = environment["COLUMNS"].flatMap { Int($0) } ?? (isTerminal ? windowWidth(of: descriptor) : nil)
        return Terminal(
            isTerminal: isTerminal,
            isInteractive: isTerminal && !isDumb,
            hasColor: isTerminal && !isDumb && !forbidsColor,
            width: width ?? 100
        )
    }

    private static func windowWidth(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// The text in bold, where colors may be used.
    func bold(_ text: String) -> String { hasColor ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

    /// The text in yellow, where colors may be used.
    func highlighted(_ text: String) -> String { hasColor ? "\u{1B}[33m\(text)\u{1B}[0m" : text }

    /// The text in gray, where colors may be used.
    func faint(_ text: String) -> String { hasColor ? "\u{1B}[2m\(text)\u{1B}[0m" : text }
}
