// The syntax of header fields (RFC 9110 §5). Anything else could end a field early and begin another one.

extension String {
    /// Whether the text can be a field's name or a method: a token of RFC 9110 §5.6.2.
    var isFieldName: Bool { !isEmpty && utf8.allSatisfy(\.isTokenByte) }

    /// Whether the text can be a field's value: no control characters but the tab (RFC 9110 §5.5).
    var isFieldValue: Bool {
        utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }
    }

    /// The text without spaces and tabs at its ends (RFC 9110 §5.6.3).
    var withoutSurroundingWhiteSpace: String {
        guard utf8.first?.isBlank == true || utf8.last?.isBlank == true else { return self }
        let start = utf8.drop(while: \.isBlank)
        let end = start.lastIndex { !$0.isBlank }.map { utf8.index(after: $0) } ?? start.startIndex
        return String(self[start.startIndex..<end])
    }

    /// Whether two texts are equal but for the case of ASCII letters, as names in HTTP are.
    package func equalsIgnoringASCIICase(_ other: String) -> Bool {
        let (mine, theirs) = (utf8, other.utf8)
        return mine.count == theirs.count && zip(mine, theirs).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension UInt8 {
    /// Whether the byte may stand in a token (RFC 9110 §5.6.2).
    var isTokenByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }

    fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 }

    fileprivate var asciiLowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}
