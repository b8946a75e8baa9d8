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
            isTerminal: isTerminal, isInteractive: isTerminal && !isDumb,
            hasColor: isTerminal && !isDumb && !forbidsColor, width: width ?? 100)
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

extension String {
    /// The columns of a terminal that the text takes.
    var columns: Int { reduce(0) { $0 + $1.columns } }

    /// The text with trailing spaces, or cut off with an ellipsis, so that it takes this number of columns.
    func fitted(to width: Int) -> String {
        let own = columns
        guard own > width else { return self + String(repeating: " ", count: width - own) }
        var (text, taken) = ("", 0)
        for character in self {
            guard taken + character.columns < width else { break }
            text.append(character)
            taken += character.columns
        }
        return text + (width > 0 ? "…" : "") + String(repeating: " ", count: max(0, width - taken - 1))
    }
}

extension Character {
    /// The columns of a terminal that the character takes: two for a wide one (Unicode Standard Annex 11) and an emoji.
    var columns: Int {
        guard let scalar = unicodeScalars.first else { return 0 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return scalar.properties.isEmojiPresentation || Self.wide.contains { $0 ~= scalar.value } ? 2 : 1
        }
    }

    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97C,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD,
    ]
}
