import Foundation

// Secrets by value, in the forms in which a server quotes them, and by shape.
extension Redaction {
    /// The most characters of a server's identifier that are kept.
    private static let maximumIdentifierLength = 128

    /// A text without the secrets of the call and without what has the shape of a secret: a JSON Web Token, and a run
    /// of at least 40 characters with capitals, small letters and digits that is not hexadecimal.
    ///
    /// A secret is found as it is, percent-encoded, encoded as in a form, escaped as in JSON, HTML or source code, in
    /// base64 at any position, and in hexadecimal digits. Of a text with a word that contains a short secret the
    /// fingerprint is left. A text of more bytes than the limit is cut where no part of a secret is left.
    ///
    /// - Complexity: O(*n*) in the length of the text, for a given number of secrets.
    package func text(_ text: String, limit: Int? = nil) -> String { search(text, limit: limit) ?? withheld(text) }

    /// What may be shown of a text of the response, in a format that is known and without its escapes: the text without
    /// secrets; where secrets of the call are not known, its fingerprint.
    func responseText(_ text: String, limit: Int? = nil) -> String {
        isComplete ? self.text(text, limit: limit) : withheld(text)
    }

    /// What may be shown of a server's identifier of a request or of a trace, on one line and of bounded length. Where
    /// secrets of the call are not known and it does not look as one, its fingerprint is.
    package func identifier(_ text: String) -> String {
        guard let shown = search(text, limit: String.maximumTextLength, byShape: false) else { return withheld(text) }
        guard isComplete || shown.looksLikeCode || shown.looksLikeTrace else { return withheld(text) }
        return shown.boundedLine(Self.maximumIdentifierLength)
    }

    /// What may be shown of a server's code, or of the name of a field, on one bounded line. Anything else is a text.
    ///
    /// A short secret stays where it is one of the words of the code: programs decide by it.
    package func code(_ text: String) -> String {
        let shown =
            text.looksLikeCode ? search(text, ofCode: true) : responseText(text, limit: String.maximumTextLength)
        return (shown ?? withheld(text)).boundedLine(Self.maximumIdentifierLength)
    }

    /// The URL that a text is, as a page or a signed file has one: with a scheme and `//`, or a path without blanks.
    static func address(_ text: String) -> URL? {
        let scheme = text.utf8.prefix { $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) }
        let isAbsolute = !scheme.isEmpty && text.utf8[scheme.endIndex...].starts(with: "://".utf8)
        let isPath = text.utf8.first == UInt8(ascii: "/") && !text.utf8.contains { $0 <= 0x20 }
        return isAbsolute || isPath ? URL(string: text) : nil
    }

    private func withheld(_ text: String) -> String {
        "\(Self.placeholder) (\(Fingerprint.of(Data(text.utf8), length: text.utf8.count)))"
    }

    /// Replaces what is a secret, and what has the shape of a token. Of a code, a short secret of letters stays unless
    /// it is the whole text. `nil`: a word contains a short secret.
    func search(_ text: String, limit: Int? = nil, byShape: Bool = true, ofCode isCode: Bool = false) -> String? {
        var text = text
        // Where a text is cut there may be a part of a secret, of which a byte has at most 12 characters, or of a run.
        let margin = max((secrets.first?.bytes.count ?? 0) * 12, Self.shortestOpaqueRun)
        let isCut = limit.map { text.utf8.count > $0 } ?? false
        if isCut, let limit { text = String(decoding: text.utf8.prefix(limit + margin), as: UTF8.self) }
        if !secrets.isEmpty {
            guard let found = withoutSecrets(text, ofCode: isCode) else { return nil }
            text = found
        }
        if byShape { text = Self.withoutShapes(text) }
        guard isCut, let limit else { return text }
        return String(decoding: text.utf8.dropLast(margin).prefix(limit), as: UTF8.self)
    }

    private func withoutSecrets(_ text: String, ofCode isCode: Bool) -> String? {
        let bytes = Array(text.utf8)
        var found: [Range<Int>] = []
        var position = 0
        while position < bytes.count {
            guard firstBytes[Int(bytes[position])],
                let (secret, end) = secrets.lazy.compactMap({ secret in
                    secret.end(in: bytes, from: position).map { (secret, $0) }
                }).first
            else {
                position += 1
                continue
            }
            if secret.isShort {
                if isCode, secret.isLetters, end - position < bytes.count {
                    position += 1
                    continue
                }
                // Scripts without spaces have letters of more than one byte.
                let neighbours = bytes[..<position].suffix(1) + bytes[end...].prefix(1)
                guard !neighbours.contains(where: { $0.isLetter || $0.isDigit }) else { return nil }
            }
            found.append(position..<end)
            position = end
        }
        return Self.replacing(found, in: text, of: bytes)
    }

    /// A text of bytes with the placeholder in place of ranges, which are in order.
    package static func replacing(_ secrets: [Range<Int>], in text: String, of bytes: [UInt8]) -> String {
        guard !secrets.isEmpty else { return text }
        var result: [UInt8] = []
        var copied = 0
        for secret in secrets {
            result += bytes[copied..<secret.lowerBound] + placeholder.utf8
            copied = secret.upperBound
        }
        return String(decoding: result + bytes[copied...], as: UTF8.self)
    }
}

extension String {
    /// Whether the text is one of hexadecimal digits or capitals, as a UUID, a ULID or the identifier of a trace.
    fileprivate var looksLikeTrace: Bool { wholeMatch(of: /[0-9A-Fa-f-]{16,64}|[0-9A-HJKMNP-TV-Z]{26}/) != nil }

    /// The text without control characters, cut.
    func boundedLine(_ limit: Int) -> String {
        String(prefix(limit).unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
    }

    /// Whether the text is made of words, capitals and numbers, as codes and names of fields are. No word is of two
    /// kinds: a text that is no code would be looked at in each way in which its words could be read.
    fileprivate var looksLikeCode: Bool {
        guard (1...64).contains(utf8.count) else { return false }
        return wholeMatch(
            of: /([A-Z]+[0-9]{1,5}|[A-Za-z]+|[0-9]{1,5})([_.:\/\[\]+-]+([A-Z]+[0-9]{1,5}|[A-Za-z]+|[0-9]{1,5}))*\]?/)
            != nil
    }
}

// Secrets by shape.
extension Redaction {
    static let shortestOpaqueRun = 40
    private static let shortestTokenHeader = 10
    private static let dot = UInt8(ascii: ".")
    private static let slash = UInt8(ascii: "/")

    /// The text without tokens. It is returned as it is where it has none.
    static func withoutShapes(_ text: String) -> String {
        guard text.utf8.count > shortestTokenHeader else { return text }
        let bytes = Array(text.utf8)
        let runs = bytes.split { !$0.isRunByte }.filter { $0.count > shortestTokenHeader }
        return replacing(runs.flatMap(secretRanges), in: text, of: bytes)
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

    /// Where a JSON Web Token is: an encoded object, a dot, and one or the other again (RFC 7519 §3, RFC 7516 §3.1).
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
            && run.contains(where: \.isDigit)
            && run.contains { $0.hexDigit == nil && $0 != UInt8(ascii: "-") }
    }
}

extension UInt8 {
    var isCapital: Bool { self >= 0x41 && self <= 0x5A }

    fileprivate var isRunByte: Bool {
        isLetter || "+_".utf8.contains(self) || (UInt8(ascii: "-")...UInt8(ascii: "9")).contains(self)
    }
}

extension ArraySlice<UInt8> {
    /// Where `{"` in base64 begins.
    fileprivate var firstEncodedObject: Int? { indices.first { self[$0...].starts(with: "eyJ".utf8) } }
}
