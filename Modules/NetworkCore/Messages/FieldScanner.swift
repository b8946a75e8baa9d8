/// Reads the parts of a structured field value: tokens, quoted strings, separators (RFC 9110 §5.6).
///
/// Optional white space before a part is skipped.
///
/// - Complexity: Each byte is read once: O(*n*) in the length of the value.
package struct FieldScanner {
    private var rest: Substring.UTF8View

    package init(_ value: String) { rest = value[...].utf8 }

    package var isAtEnd: Bool { rest.isEmpty }

    /// Skips white space and one separator, and says whether it was there.
    package mutating func skip(_ separator: UInt8) -> Bool {
        skipWhiteSpace()
        guard rest.first == separator else { return false }
        rest.removeFirst()
        return true
    }

    /// Reads a token; `nil` where there is none.
    package mutating func token() -> String? {
        skipWhiteSpace()
        let token = rest.prefix { $0.isTokenByte }
        guard !token.isEmpty else { return nil }
        rest = rest[token.endIndex...]
        return String(Substring(token))
    }

    /// Reads a quoted string without its marks, or what comes before the next separator: servers write file names
    /// without marks. A comma separates only where the field is a list. `nil`: a quoted string does not end.
    package mutating func tokenOrQuotedString(inList isList: Bool = true) -> String? {
        if let (text, isClosed) = quotedString() { return isClosed ? text : nil }
        let value = rest.prefix { $0 != UInt8(ascii: ";") && !(isList && $0 == UInt8(ascii: ",")) }
        rest = rest[value.endIndex...]
        return String(Substring(value)).withoutSurroundingWhiteSpace
    }

    /// Reads a quoted string: its text, without marks and escapes, and whether it ends; `nil` where there is none.
    package mutating func quotedString() -> (text: String, isClosed: Bool)? {
        guard skip(UInt8(ascii: "\"")) else { return nil }
        var text: [UInt8] = []
        var isClosed = false
        while !isClosed, let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): isClosed = true
            case UInt8(ascii: "\\"): text += [rest.popFirst()].compactMap(\.self)
            default: text.append(byte)
            }
        }
        return (String(decoding: text, as: UTF8.self), isClosed)
    }

    /// Reads what is before a byte, and skips it. `nil`: the byte does not occur; everything has been read then.
    package mutating func text(before end: UInt8) -> String? {
        let text = rest.prefix { $0 != end }
        rest = rest[text.endIndex...]
        return rest.popFirst() == nil ? nil : String(Substring(text))
    }

    /// Skips to the next item of a list: after the next comma outside a quoted string.
    package mutating func skipItem() {
        while !rest.isEmpty {
            if quotedString() == nil, rest.popFirst() == UInt8(ascii: ",") { return }
        }
    }

    private mutating func skipWhiteSpace() { rest = rest.drop(while: \.isBlank) }
}
