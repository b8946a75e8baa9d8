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

    init(isTerminal: Bool? = nil, isInteractive: Bool, hasColor: Bool = false, width: Int = 100) {
        self.isTerminal = isTerminal ?? isInteractive
        self.isInteractive = isInteractive
        self.hasColor = hasColor
        self.width = min(max(width, 60), 160)
    }

    /// The abilities of this process's standard output, or of another descriptor.
    static func current(_ descriptor: Int32 = STDOUT_FILENO) -> Terminal {
        let environment = ProcessInfo.processInfo.environment
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

    /// The styles of text, by their numbers in ECMA-48 §8.3.117.
    enum Style: Int {
        case bold = 1
        case faint = 2
        case red = 31
        case green = 32
        case yellow = 33
        case magenta = 35
    }

    /// The text in a style, where colors may be used.
    func styled(_ text: String, _ style: Style) -> String {
        hasColor ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    func bold(_ text: String) -> String { styled(text, .bold) }

    func faint(_ text: String) -> String { styled(text, .faint) }

    /// The words of a text in lines of the terminal's width, each after the indentation.
    func wrapped(_ text: String, indentation: Int) -> [String] {
        let space = String(repeating: " ", count: indentation)
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(space + word)
            }
        }
        return lines
    }
}
