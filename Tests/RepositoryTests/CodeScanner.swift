/// Reads Swift source as text, and keeps what is code.
///
/// Comments become a space; strings and regular expressions become nothing, with what is interpolated into them. Line
/// breaks stay, so that a position in the code is on the same line as in the source.
struct CodeScanner {
    private enum Byte {
        static let newline = UInt8(ascii: "\n")
        static let quote = UInt8(ascii: "\"")
        static let hash = UInt8(ascii: "#")
        static let slash = UInt8(ascii: "/")
        static let star = UInt8(ascii: "*")
        static let backslash = UInt8(ascii: "\\")
        static let backtick = UInt8(ascii: "`")
        static let space = UInt8(ascii: " ")
        static let opening = UInt8(ascii: "(")
        static let closing = UInt8(ascii: ")")
    }

    private let source: [UInt8]
    private var position = 0
    private var code: [UInt8] = []
    /// Code inside a string is left out.
    private var isInLiteral = false

    private init(_ source: String) {
        self.source = Array(source.utf8)
        code.reserveCapacity(self.source.count)
    }

    /// The code of a source file as UTF-8, with as many lines as the file.
    static func code(in source: String) -> [UInt8] {
        var scanner = CodeScanner(source)
        scanner.readCode(untilParenthesis: false)
        return scanner.code
    }

    private mutating func readCode(untilParenthesis: Bool) {
        var depth = 0
        while let byte = byte() {
            let next = self.byte(1)
            switch byte {
            case Byte.slash where next == Byte.slash: skipLine()
            case Byte.slash where next == Byte.star: skipBlockComment()
            case Byte.slash where startsRegularExpression: skipRegularExpression(hashes: 0)
            case Byte.quote: skipString(hashes: 0)
            case Byte.hash: skipHashes()
            case Byte.backtick: keepQuotedIdentifier()
            case Byte.closing where untilParenthesis && depth == 0:
                position += 1
                return
            default:
                if byte == Byte.opening { depth += 1 }
                if byte == Byte.closing { depth -= 1 }
                keep(byte)
            }
        }
    }

    private func byte(_ offset: Int = 0) -> UInt8? {
        let index = position + offset
        return source.indices.contains(index) ? source[index] : nil
    }

    /// Whether a run of one byte and some hashes is next.
    private func isNext(_ bytes: UInt8, count: Int = 1, hashes: Int) -> Bool {
        (0..<count).allSatisfy { byte($0) == bytes } && (0..<hashes).allSatisfy { byte(count + $0) == Byte.hash }
    }

    private mutating func keep(_ byte: UInt8) {
        if !isInLiteral || byte == Byte.newline { code.append(byte) }
        position += 1
    }

    private mutating func skip(_ count: Int = 1) {
        for _ in 0..<count {
            if byte() == Byte.newline { code.append(Byte.newline) }
            position += 1
        }
    }

    private mutating func skipLine() {
        while let byte = byte(), byte != Byte.newline { position += 1 }
    }

    private mutating func skipBlockComment() {
        if !isInLiteral { code.append(Byte.space) }
        var depth = 0
        repeat {
            if isNext(Byte.slash, hashes: 0), byte(1) == Byte.star {
                depth += 1
                skip(2)
            } else if isNext(Byte.star, hashes: 0), byte(1) == Byte.slash {
                depth -= 1
                skip(2)
            } else {
                skip()
            }
        } while depth > 0 && position < source.count
    }

    /// `#"…"#`, `#/…/#`, or the start of `#if`.
    private mutating func skipHashes() {
        var hashes = 0
        while byte(hashes) == Byte.hash { hashes += 1 }
        switch byte(hashes) {
        case Byte.quote:
            position += hashes
            skipString(hashes: hashes)
        case Byte.slash:
            position += hashes
            skipRegularExpression(hashes: hashes)
        default:
            for _ in 0..<hashes { keep(Byte.hash) }
        }
    }

    private mutating func skipString(hashes: Int) {
        let isMultiline = isNext(Byte.quote, count: 3, hashes: 0) && (hashes == 0 || isRestOfLineBlank(after: 3))
        let quotes = isMultiline ? 3 : 1
        skip(quotes)
        while let byte = byte() {
            if isNext(Byte.quote, count: quotes, hashes: hashes) { return skip(quotes + hashes) }
            if byte == Byte.newline, !isMultiline { return }
            if isNext(Byte.backslash, hashes: hashes) {
                skip(1 + hashes)
                if self.byte() == Byte.opening { skipInterpolation() } else { skip() }
            } else {
                skip()
            }
        }
    }

    private func isRestOfLineBlank(after offset: Int) -> Bool {
        source[min(position + offset, source.count)...].first { $0 != Byte.space } == Byte.newline
    }

    private mutating func skipInterpolation() {
        let wasInLiteral = isInLiteral
        isInLiteral = true
        position += 1
        readCode(untilParenthesis: true)
        isInLiteral = wasInLiteral
    }

    /// Whether a slash starts a literal, by the rules of SE-0354: only at the start of an operand, and not if the
    /// literal would be empty, start or end with a blank, close a parenthesis that it has not opened, or pass the end
    /// of the line.
    private var startsRegularExpression: Bool {
        let rest = source[(position + 1)...].prefix { $0 != Byte.newline }
        guard isAtStartOfOperand, let first = rest.first, !Self.blanks.contains(first) else { return false }
        var (parentheses, brackets) = (0, 0)
        var previous = Byte.slash
        var isEscaped = false
        for byte in rest {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case Byte.backslash: isEscaped = true
            case Byte.slash: return previous != Byte.slash && !Self.blanks.contains(previous)
            case UInt8(ascii: "["): brackets += 1
            case UInt8(ascii: "]") where brackets > 0: brackets -= 1
            case Byte.opening where brackets == 0: parentheses += 1
            case Byte.closing where brackets == 0:
                guard parentheses > 0 else { return false }
                parentheses -= 1
            default: break
            }
            previous = byte
        }
        return false
    }

    /// Whether nothing before this position is joined to what follows: a blank, an opening bracket, a comment.
    private var isAtStartOfOperand: Bool {
        guard position > 0 else { return true }
        let isAfterComment = position > 1 && source[position - 2] == Byte.star && source[position - 1] == Byte.slash
        return isAfterComment || (Self.blanks + Array("([{,;:".utf8)).contains(source[position - 1])
    }

    private static let blanks = Array(" \t\r\n".utf8)

    private mutating func skipRegularExpression(hashes: Int) {
        skip()
        while let byte = byte() {
            if isNext(Byte.slash, hashes: hashes) { return skip(1 + hashes) }
            if byte == Byte.newline, hashes == 0 { return }
            skip(byte == Byte.backslash ? 2 : 1)
        }
    }

    /// Keeps `` `name` ``. Of a name that is a sentence, two backticks stay.
    private mutating func keepQuotedIdentifier() {
        let name = source[(position + 1)...].prefix { $0 != Byte.backtick && $0 != Byte.newline }
        keep(Byte.backtick)
        if name.contains(Byte.space) { position += name.count } else { for byte in name { keep(byte) } }
        if byte() == Byte.backtick { keep(Byte.backtick) }
    }
}

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
