import Foundation

// Secrets by value, in the forms in which a server quotes them, and by shape.
extension Redaction {
    /// A text without the secrets of the call and without what has the shape of a secret: a JSON Web Token, and a run of
    /// at least 40 characters with capitals, small letters and digits that is not hexadecimal.
    ///
    /// A secret is found as it is, percent-encoded, encoded as in a form, escaped as in JSON or HTML, and in base64.
    ///
    /// - Complexity: O(*n*) in the length of the text, for a given number of secrets.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - limit: The most bytes to keep. The text is cut where no part of a secret is left. `nil`: all.
    /// - Returns: The text, with a placeholder in place of each secret.
    package func text(_ text: String, limit: Int? = nil) -> String {
        quoted(text, limit: limit, byShape: true)
    }

    func quoted(_ text: String, limit: Int? = nil, byShape: Bool) -> String {
        var text = text
        // Where a text is cut there may be a part of a secret, of which a byte has at most 8 characters, or of a run.
        let margin = max((secrets.first?.bytes.count ?? 0) * 8, Self.shortestOpaqueRun)
        let isCut = limit.map { text.utf8.count > $0 } ?? false
        if isCut, let limit { text = String(decoding: text.utf8.prefix(limit + margin), as: UTF8.self) }
        if !secrets.isEmpty { text = withoutSecrets(text) }
        if byShape { text = Self.withoutShapes(text) }
        guard isCut, let limit else { return text }
        return String(decoding: text.utf8.dropLast(margin).prefix(limit), as: UTF8.self)
    }

    private func withoutSecrets(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var copied = 0
        var position = 0
        while position < bytes.count {
            guard firstBytes[Int(bytes[position])],
                let end = secrets.lazy.compactMap({ $0.end(in: bytes, from: position) }).first
            else {
                position += 1
                continue
            }
            result += bytes[copied..<position]
            result += Self.placeholder.utf8
            (position, copied) = (end, end)
        }
        guard copied > 0 else { return text }
        result += bytes[copied...]
        return String(decoding: result, as: UTF8.self)
    }
}

/// One secret, found in any encoding of each of its bytes.
struct QuotedSecret: Sendable {
    let bytes: [UInt8]

    /// The secret itself and its base64 forms; for characters outside ASCII, its JSON form too.
    static func forms(_ secret: String) -> [QuotedSecret] {
        let bytes = Array(secret.utf8)
        var forms = [QuotedSecret(bytes: bytes)]
        var base64 = Data(bytes).base64EncodedString()[...]
        while base64.last == "=" { base64.removeLast() }
        // The last character depends on what follows the secret.
        if bytes.count % 3 != 0 { base64.removeLast() }
        if base64.utf8.count >= Redaction.minimumSecretLength {
            forms.append(QuotedSecret(bytes: Array(base64.utf8)))
            let url = base64.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == 0x2F ? 0x5F : $0 }
            if url != Array(base64.utf8) { forms.append(QuotedSecret(bytes: url)) }
        }
        if bytes.contains(where: { $0 >= 0x80 }) {
            let units = secret.utf16.map { $0 < 0x80 ? "\(UnicodeScalar(UInt8($0)))" : $0.jsonEscape }
            forms.append(QuotedSecret(bytes: Array(units.joined().utf8)))
        }
        return forms
    }

    /// The bytes with which a form of the secret can begin.
    var firstBytes: [UInt8] {
        guard let first = bytes.first else { return [] }
        return [first] + "%\\&".utf8 + (first == 0x20 ? [UInt8(ascii: "+")] : [])
    }

    /// Where the secret ends that begins at a position; `nil` where none does.
    func end(in text: [UInt8], from start: Int) -> Int? {
        var position = start
        for byte in bytes {
            guard let length = Self.length(of: byte, in: text, at: position) else { return nil }
            position += length
        }
        return position
    }

    /// The length of one byte's encoding in the text: itself, `+`, `%2B`, `%252B`, `\/`, `\u002b`, `&amp;`, `&#43;`.
    private static func length(of byte: UInt8, in text: [UInt8], at position: Int) -> Int? {
        guard position < text.count else { return nil }
        let found = text[position]
        switch found {
        case UInt8(ascii: "%"):
            if text.hexValue(at: position + 1, digits: 2) == Int(byte) { return 3 }
            let isTwice = text.hexValue(at: position + 1, digits: 2) == 0x25
            if isTwice, text.hexValue(at: position + 3, digits: 2) == Int(byte) { return 5 }
        case UInt8(ascii: "\\") where position + 1 < text.count:
            let next = text[position + 1]
            if next == byte, [0x22, 0x2F, 0x5C, 0x27].contains(byte) { return 2 }
            if next == UInt8(ascii: "u"), text.hexValue(at: position + 2, digits: 4) == Int(byte) { return 6 }
        case UInt8(ascii: "&"):
            if let name = entities[byte], text[position...].starts(with: name.utf8) { return name.utf8.count }
            for name in ["&#\(byte);", "&#x\(String(byte, radix: 16));"]
            where text[position...].starts(with: name.utf8) { return name.utf8.count }
        case UInt8(ascii: "+") where byte == 0x20:
            return 1
        default: break
        }
        return found == byte ? 1 : nil
    }

    private static let entities: [UInt8: String] = [
        0x26: "&amp;", 0x3C: "&lt;", 0x3E: "&gt;", 0x22: "&quot;", 0x27: "&apos;",
    ]
}

extension UInt16 {
    fileprivate var jsonEscape: String {
        let digits = String(self, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}

extension [UInt8] {
    fileprivate func hexValue(at start: Int, digits: Int) -> Int? {
        guard start + digits <= count else { return nil }
        var value = 0
        for byte in self[start..<start + digits] {
            guard let digit = byte.hexDigit else { return nil }
            value = value * 16 + digit
        }
        return value
    }
}

extension UInt8 {
    fileprivate var hexDigit: Int? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(self) - 0x30
        case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(self) - 0x57
        case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(self) - 0x37
        default: nil
        }
    }
}

// Secrets by shape.
extension Redaction {
    private static let shortestOpaqueRun = 40
    private static let shortestTokenHeader = 10
    private static let dot = UInt8(ascii: ".")
    private static let slash = UInt8(ascii: "/")

    /// The text without tokens. It is returned as it is where it has none.
    static func withoutShapes(_ text: String) -> String {
        guard text.utf8.count > shortestTokenHeader else { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var copied = 0
        var position = 0
        while position < bytes.count {
            let start = position
            while position < bytes.count, bytes[position].isRunByte { position += 1 }
            if position - start > shortestTokenHeader {
                for secret in secretRanges(in: bytes[start..<position]) {
                    result += bytes[copied..<secret.lowerBound]
                    result += placeholder.utf8
                    copied = secret.upperBound
                }
            }
            position += 1
        }
        guard copied > 0 else { return text }
        result += bytes[copied...]
        return String(decoding: result, as: UTF8.self)
    }

    /// The tokens in a run of characters that tokens, paths and names with dots are made of.
    private static func secretRanges(in run: ArraySlice<UInt8>) -> [Range<Int>] {
        let segments = run.split(separator: slash)
        let ranges = segments.flatMap { segment -> [Range<Int>] in
            if let token = webToken(in: segment) { return [token] }
            return segment.split(separator: dot).filter(isOpaque).map(\.indices)
        }
        // The slashes of base64 are few, and what is between them has capitals in it, as the words of a path have not.
        guard ranges.isEmpty, segments.count > 1, isOpaque(run),
            segments.allSatisfy({ $0.count < 4 || $0.count { $0.isCapital } >= 2 })
        else { return ranges }
        return [run.indices]
    }

    /// Where a JSON Web Token is: an encoded object, a dot, and either another dot or another encoded object (RFC 7519
    /// §3, RFC 7516 §3.1).
    private static func webToken(in segment: ArraySlice<UInt8>) -> Range<Int>? {
        let parts = segment.split(separator: dot, omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            let rest = parts[(index + 1)...]
            guard let start = part.firstEncodedObject, part.endIndex - start >= shortestTokenHeader,
                rest.count >= 2 || rest.first?.firstEncodedObject == rest.first?.startIndex, !rest.isEmpty
            else { continue }
            return start..<segment.endIndex
        }
        return nil
    }

    /// Whether a run is long, mixes case and digits, and is not hexadecimal.
    private static func isOpaque(_ run: ArraySlice<UInt8>) -> Bool {
        guard run.count >= shortestOpaqueRun else { return false }
        return run.contains { $0.isCapital } && run.contains { $0 >= 0x61 && $0 <= 0x7A }
            && run.contains { $0 >= 0x30 && $0 <= 0x39 }
            && run.contains { $0.hexDigit == nil && $0 != UInt8(ascii: "-") }
    }
}

extension UInt8 {
    fileprivate var isCapital: Bool { self >= 0x41 && self <= 0x5A }

    fileprivate var isRunByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "-")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "+"):
            true
        default: false
        }
    }
}

extension ArraySlice<UInt8> {
    /// Where `{"` in base64 begins.
    fileprivate var firstEncodedObject: Int? {
        indices.first { self[$0...].starts(with: "eyJ".utf8) }
    }
}
