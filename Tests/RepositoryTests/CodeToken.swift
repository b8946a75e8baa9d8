/// A word or a punctuation mark of Swift code.
struct CodeToken: Hashable {
    let text: String
    /// From 1.
    let line: Int

    /// Whether it is a name or a keyword.
    var isWord: Bool { text.utf8.first.map(Self.isPartOfWord) ?? false }

    /// The name without its backticks.
    var name: String { text.filter { $0 != "`" } }

    /// The tokens of source code, without comments and literals, of every branch of every `#if`.
    static func tokens(in source: String) -> [CodeToken] {
        let code = CodeScanner.code(in: source)
        var tokens: [CodeToken] = []
        var line = 1
        var index = 0
        while index < code.count {
            let start = index
            index += 1
            switch code[start] {
            case UInt8(ascii: "\n"): line += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
            case let byte:
                if isPartOfWord(byte) { while index < code.count, isPartOfWord(code[index]) { index += 1 } }
                tokens.append(CodeToken(text: String(decoding: code[start..<index], as: UTF8.self), line: line))
            }
        }
        return tokens
    }

    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "`"), 0x80...: true
        default: false
        }
    }
}
