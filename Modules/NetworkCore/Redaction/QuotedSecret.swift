import Foundation

/// One secret in one of the forms in which a server quotes it: as text, in base64 or in hexadecimal digits.
struct QuotedSecret: Sendable {
    private enum Form { case text, base64, hexadecimal }

    /// The form as it is, without escapes.
    let bytes: [UInt8]
    /// Whether the secret is so short that it may be found by accident.
    let isShort: Bool
    /// Whether the secret is a word of letters, as the words of a code are.
    let isLetters: Bool

    private let form: Form
    private let scalars: [Unicode.Scalar]

    private init(_ text: String, _ form: Form, of secret: String) {
        self.form = form
        bytes = Array(text.utf8)
        isShort = !secret.isUnmistakable
        isLetters = secret.utf8.allSatisfy(\.isLetter)
        scalars = Array(text.unicodeScalars)
    }

    /// The shortest form of a short secret in base64, in characters.
    private static let shortestBase64 = 3

    static func forms(_ secret: String) -> [QuotedSecret] {
        var texts: Set<String> = []
        for offset in 0..<3 {
            // What is before and after the secret changes the characters at its ends: they are left out.
            let padded = Data(repeating: 0, count: offset) + Data(secret.utf8)
            let characters = padded.base64EncodedString().utf8
            let range = (offset * 8 + 5) / 6..<(padded.count * 8) / 6
            guard range.count >= shortestBase64 else { continue }
            let text = String(decoding: Array(characters)[range], as: UTF8.self)
            texts.insert(text)
            texts.insert(text.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_"))
        }
        let digits = secret.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return [QuotedSecret(secret, .text, of: secret), QuotedSecret(digits, .hexadecimal, of: secret)]
            + texts.map { QuotedSecret($0, .base64, of: secret) }
    }

    /// The bytes with which the form can begin.
    var firstBytes: Set<UInt8> {
        guard let first = bytes.first else { return [] }
        var bytes: Set<UInt8> = [first, 0x25, 0x5C, 0x26, 0x3D]
        if first == 0x20 { bytes.insert(0x2B) }
        if form == .hexadecimal { bytes.formUnion([first & ~0x20, first]) }
        return bytes
    }

    /// Where the secret ends that begins at a position; `nil` where none does.
    func end(in text: [UInt8], from start: Int) -> Int? {
        if text[start...].starts(with: bytes) { return start + bytes.count }
        var position = start
        for (index, scalar) in scalars.enumerated() {
            if index > 0 { position = skippingSeparator(in: text, from: position, before: index) }
            guard let length = length(of: scalar, in: text, at: position) else { return nil }
            position += length
        }
        return position
    }

    private func length(of scalar: Unicode.Scalar, in text: [UInt8], at position: Int) -> Int? {
        guard position < text.count else { return nil }
        if form == .hexadecimal {
            let (found, digit) = (text[position], UInt8(ascii: scalar))
            return found == digit || (found.isLetter && found | 0x20 == digit) ? 1 : nil
        }
        if let escape = text.escapedScalar(at: position), escape.value == scalar.value { return escape.length }
        var end = position
        for byte in scalar.utf8 {
            guard let length = text.length(of: byte, at: end) else { return nil }
            end += length
        }
        return end - position
    }

    /// Base64 may be broken into lines, and hexadecimal bytes may have marks between them: `61:62`, `0x61, 0x62`.
    private func skippingSeparator(in text: [UInt8], from start: Int, before index: Int) -> Int {
        var position = start
        switch form {
        case .text: return start
        case .base64:
            while position < text.count, text[position] == 0x0D || text[position] == 0x0A { position += 1 }
            while position + 1 < text.count, text[position] == 0x5C, [0x72, 0x6E].contains(text[position + 1]) {
                position += 2
            }
        case .hexadecimal where index.isMultiple(of: 2):
            let marks = Array(":-,; \\%".utf8)
            while position < text.count, position < start + 3, marks.contains(text[position]) { position += 1 }
            if position < text.count, text[position] | 0x20 == 0x78 { return position + 1 }
            if position + 1 < text.count, text[position] == 0x30, text[position + 1] | 0x20 == 0x78 { position += 2 }
        case .hexadecimal: break
        }
        return position
    }
}

// Escapes.
extension [UInt8] {
    private typealias Escape = (value: UInt32, length: Int)

    /// The scalar of an escape at a position: `\u002b`, `\u{2b}`, `\U0000002b`, `%u002b`, `&#43;`, `&#x2b;`, `&amp;`.
    /// There may be several backslashes, as where JSON quotes JSON.
    fileprivate func escapedScalar(at position: Int) -> (value: UInt32, length: Int)? {
        switch self[position] {
        case 0x26: return entity(at: position)
        case 0x25:
            guard byte(at: position + 1) == 0x75, let value = value(at: position + 2, digits: 4) else { return nil }
            return (UInt32(value), 6)
        case 0x5C:
            let mark = skipping(0x5C, from: position)
            switch byte(at: mark) {
            case 0x75: return unicodeEscape(at: mark, from: position)
            case 0x55:
                return value(at: mark + 1, digits: 8).map { (UInt32(truncatingIfNeeded: $0), mark + 9 - position) }
            case 0x78: return braced(at: mark + 1).map { ($0.value, mark + 1 + $0.length - position) }
            default: return nil
            }
        default: return nil
        }
    }

    private func unicodeEscape(at mark: Int, from position: Int) -> Escape? {
        if let braced = braced(at: mark + 1) { return (braced.value, mark + 1 + braced.length - position) }
        guard let high = value(at: mark + 1, digits: 4) else { return nil }
        let end = mark + 5
        guard (0xD800..<0xDC00).contains(high), byte(at: end) == 0x5C else { return (UInt32(high), end - position) }
        let next = skipping(0x5C, from: end)
        guard byte(at: next) == 0x75, let low = value(at: next + 1, digits: 4), (0xDC00..<0xE000).contains(low)
        else { return nil }
        return (UInt32(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)), next + 5 - position)
    }

    /// Hexadecimal digits in braces.
    private func braced(at position: Int) -> Escape? {
        guard byte(at: position) == 0x7B, let end = self[position...].prefix(10).firstIndex(of: 0x7D) else {
            return nil
        }
        return value(at: position + 1, digits: end - position - 1).map { (UInt32($0), end + 1 - position) }
    }

    private func entity(at position: Int) -> Escape? {
        guard let end = self[position...].prefix(12).firstIndex(of: 0x3B) else { return nil }
        let name = String(decoding: self[(position + 1)..<end], as: UTF8.self).lowercased()
        let length = end + 1 - position
        if let value = Self.entities[name] { return (value, length) }
        guard name.hasPrefix("#") else { return nil }
        let number = name.hasPrefix("#x") ? UInt32(name.dropFirst(2), radix: 16) : UInt32(name.dropFirst())
        return number.map { ($0, length) }
    }

    private static let entities: [String: UInt32] = [
        "amp": 0x26, "lt": 0x3C, "gt": 0x3E, "quot": 0x22, "apos": 0x27, "plus": 0x2B, "sol": 0x2F, "equals": 0x3D,
    ]

    /// The length of one byte's encoding: itself, `+`, `%2B`, `%252B`, `=2B`, `\x2b`, `\053`, `\/`.
    fileprivate func length(of byte: UInt8, at position: Int) -> Int? {
        guard position < count else { return nil }
        switch self[position] {
        case 0x25:
            var digits = position + 1
            while value(at: digits, digits: 2) == 0x25, value(at: digits + 2, digits: 2) != nil { digits += 2 }
            if value(at: digits, digits: 2) == Int(byte) { return digits + 2 - position }
        case 0x3D:
            if value(at: position + 1, digits: 2) == Int(byte) { return 3 }
        case 0x5C:
            let mark = skipping(0x5C, from: position)
            if self.byte(at: mark) == 0x78, value(at: mark + 1, digits: 2) == Int(byte) {
                return mark + 3 - position
            }
            if value(at: mark, digits: 3, radix: 8) == Int(byte) { return mark + 3 - position }
            if self.byte(at: mark) == byte, [0x22, 0x2F, 0x27].contains(byte) { return mark + 1 - position }
            if byte == 0x5C { return mark - position > 1 ? 2 : 1 }
        case 0x2B where byte == 0x20:
            return 1
        default: break
        }
        return self[position] == byte ? 1 : nil
    }

    private func byte(at position: Int) -> UInt8? { position < count ? self[position] : nil }

    /// The position after a run of a byte, of 8 at most.
    private func skipping(_ byte: UInt8, from start: Int) -> Int {
        var position = start
        while position < count, position < start + 8, self[position] == byte { position += 1 }
        return position
    }

    private func value(at start: Int, digits: Int, radix: Int = 16) -> Int? {
        guard digits > 0, start + digits <= count else { return nil }
        var value = 0
        for byte in self[start..<start + digits] {
            guard let digit = byte.hexDigit, digit < radix else { return nil }
            value = value * radix + digit
        }
        return value
    }
}

extension UInt8 {
    package var hexDigit: Int? { Character(UnicodeScalar(self)).hexDigitValue }
}
