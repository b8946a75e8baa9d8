package import Foundation
package import NetworkCore

// The bodies of messages.
extension Redaction {
    /// What may be shown of a body: JSON and forms without the values whose names denote a secret and without the
    /// secrets of the call. Other text is shown only if the call carried no credential. Returns the text; `nil` where
    /// the body is not shown, see ``fingerprint(of:length:contentType:)``.
    package func body(_ data: Data, contentType: String?) -> String? {
        let type = MediaType(contentType)
        guard isOfPublicCall || (isComplete && data.count <= Self.maximumBodySize) else { return nil }
        if type?.isJSON == true,
            let object = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
        {
            let options: JSONSerialization.WritingOptions = [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes]
            let shown = try? JSONSerialization.data(withJSONObject: shown(object), options: options)
            return shown.map { String(decoding: $0, as: UTF8.self) }
        }
        if type?.isForm == true { return String(data: data, encoding: .utf8).map(form) }
        let isText = ["json", "text/", "xml", "javascript"].contains { type?.text.contains($0) == true }
        guard isText, isOfPublicCall, let text = String(data: data, encoding: .utf8) else { return nil }
        return self.text(Self.withoutSecretMembers(text))
    }

    private func form(_ text: String) -> String {
        text.split(separator: "&", omittingEmptySubsequences: false).map { item in
            guard let equals = item.firstIndex(of: "=") else { return self.text(String(item)) }
            let name = item[..<equals].removingPercentEncoding ?? ""
            let shown = value(String(item[item.index(after: equals)...]), named: name)
            return "\(self.text(String(item[..<equals])))=\(shown)"
        }
        .joined(separator: "&")
    }

    /// A JSON value in which each text and number under a sensitive name is the placeholder.
    private func shown(_ value: Any, isSecret: Bool = false) -> Any {
        switch value {
        case let object as [String: Any]:
            Self.members(of: object).reduce(into: [String: Any]()) { shown, member in
                let isSecret = isSecret || Self.isSensitiveMember(member.name, member.value)
                shown[text(member.key)] = self.shown(member.value, isSecret: isSecret)
            }
        case let elements as [Any]: elements.map { shown($0, isSecret: isSecret) }
        case let text as String: isSecret ? Self.placeholder : self.value(text, named: "")
        case is NSNull: value
        default: isSecret || text("\(value)") != "\(value)" ? Self.placeholder : value
        }
    }

    /// A text without the texts and numbers of JSON members whose names denote a secret: of JSON that was cut short, of
    /// lines and events of JSON, of a page with a script. A text that has no end is one.
    ///
    /// - Complexity: O(*n*) in the length of the text.
    private static func withoutSecretMembers(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var found: [Range<Int>] = []
        var position = 0
        while position < bytes.count {
            guard bytes[position] == UInt8(ascii: "\"") else {
                position += 1
                continue
            }
            let name = bytes.range(ofStringAt: position)
            // The mark that ends it may begin the next one: in a text that is not all JSON, the marks may not be pairs.
            position = name.upperBound
            let colon = bytes.skippingSpace(from: name.upperBound + 1)
            guard colon < bytes.count, bytes[colon] == UInt8(ascii: ":") else { continue }
            let start = bytes.skippingSpace(from: colon + 1)
            let secret = bytes.scalar(at: start)
            let isText = bytes[secret.lowerBound - 1] == UInt8(ascii: "\"")
            let value: Any = isText ? String(decoding: bytes[secret], as: UTF8.self) : 0
            guard isSensitiveMember(String(decoding: bytes[name], as: UTF8.self), value) else { continue }
            guard let inner = secret.isEmpty ? bytes.scalars(in: start) : ([secret], secret.upperBound + 1) else {
                continue
            }
            found += inner.scalars
            position = inner.end
        }
        return replacing(found, in: text, of: bytes)
    }

    /// Whether a member holds a secret. A word under `code` is none, and neither is a status.
    private static func isSensitiveMember(_ name: String, _ value: Any) -> Bool {
        guard isSensitive(name) else { return false }
        guard let text = value as? String else { return !["code", "state"].contains(name.lowercased()) }
        return !isWord(text, under: name)
    }
}

extension [UInt8] {
    /// The content of the JSON string whose quotation mark is at a position, to its end or that of the text.
    fileprivate func range(ofStringAt start: Int) -> Range<Int> {
        var end = start + 1
        while end < count, self[end] != UInt8(ascii: "\"") { end += self[end] == UInt8(ascii: "\\") ? 2 : 1 }
        return start + 1..<Swift.min(end, count)
    }

    /// The content of the JSON string, or the number, at a position; empty for other values.
    fileprivate func scalar(at start: Int) -> Range<Int> {
        guard start < count else { return start..<start }
        if self[start] == UInt8(ascii: "\"") { return range(ofStringAt: start) }
        var end = start
        while end < count, (0x2B...0x39).contains(self[end]) || self[end] | 0x20 == 0x65, self[end] != 0x2C { end += 1 }
        return start..<end
    }

    /// The texts and numbers in the array or the object at a position, but for the names of its members, and where it
    /// ends: with the text, if it has no end. `nil`: there is neither.
    fileprivate func scalars(in start: Int) -> (scalars: [Range<Int>], end: Int)? {
        guard start < count, [UInt8(ascii: "["), UInt8(ascii: "{")].contains(self[start]) else { return nil }
        var (scalars, position, depth) = ([Range<Int>](), start + 1, 1)
        while position < count, depth > 0 {
            switch self[position] {
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: "a")...UInt8(ascii: "z"):
                while position + 1 < count, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self[position + 1]) {
                    position += 1
                }
            default:
                let isText = self[position] == UInt8(ascii: "\"")
                let scalar = self.scalar(at: position)
                if isText || !scalar.isEmpty { position = isText ? scalar.upperBound : scalar.upperBound - 1 }
                let next = skippingSpace(from: position + 1)
                let isName = isText && next < count && self[next] == UInt8(ascii: ":")
                if !scalar.isEmpty, !isName { scalars.append(scalar) }
            }
            position += 1
        }
        return (scalars, position)
    }

    fileprivate func skippingSpace(from start: Int) -> Int {
        var position = start
        while position < count, [0x20, 0x09, 0x0A, 0x0D].contains(self[position]) { position += 1 }
        return position
    }
}
