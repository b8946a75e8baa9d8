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
