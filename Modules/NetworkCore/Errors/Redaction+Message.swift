package import Foundation

// The secrets that a message carries, and its body without them.
extension Redaction {
    /// The largest body that is searched for secrets: 64 KiB.
    private static let maximumSearchedBody = 64 * 1_024

    /// Creates a redaction with the secrets of one request: its token wherever it was placed, what the endpoint marks as a
    /// secret in its path, and what its header fields, its URL and its body have.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - others: Other secrets of the call.
    package init(of request: HTTPTransportRequest, and others: [String?] = []) {
        let body = Self.secrets(in: request.body.data, contentType: request.head.headers["Content-Type"])
        let found = (Self.secrets(in: request.head) + body + others).compactMap(\.self)
        let long = found.filter { $0.utf8.count >= Self.minimumSecretLength }
        // What the endpoint marks as a secret may be short.
        self.init(secrets: request.context.secrets + request.context.tokens + long, minimumLength: 1)
    }

    /// The values of fields and query items whose names denote a secret; of `Authorization` also the part after the
    /// scheme, and the user and password of `Basic`.
    static func secrets(in head: HTTPRequestHead) -> [String] {
        var secrets: [String] = []
        for field in head.headers where isSensitive(field.name) {
            secrets.append(field.value)
            let words = field.value.split(separator: " ", maxSplits: 1)
            guard words.count == 2 else { continue }
            secrets.append(String(words[1]))
            guard words[0].lowercased() == "basic", let decoded = Data(base64Encoded: String(words[1])) else {
                continue
            }
            let pair = String(decoding: decoded, as: UTF8.self)
            secrets.append(pair)
            secrets += pair.split(separator: ":", maxSplits: 1).flatMap { part in
                [String(part), part.removingPercentEncoding ?? ""]
            }
        }
        for cookie in head.headers.values(of: "Cookie").flatMap({ $0.split(separator: ";") }) {
            if let equals = cookie.firstIndex(of: "=") {
                secrets.append(String(cookie[cookie.index(after: equals)...]))
            }
        }
        if let query = URLComponents(url: head.url, resolvingAgainstBaseURL: true)?.percentEncodedQuery {
            secrets += formItems(query).filter { isSensitive($0.name) }.map(\.value)
        }
        return secrets
    }

    /// The members of a JSON object and the items of a form whose names denote a secret.
    static func secrets(in body: Data?, contentType: String?) -> [String] {
        guard let body, !body.isEmpty, body.count <= maximumSearchedBody, let type = contentType?.lowercased() else {
            return []
        }
        if type.contains("x-www-form-urlencoded") {
            return formItems(String(decoding: body, as: UTF8.self)).filter { isSensitive($0.name) }.map(\.value)
        }
        if type.hasPrefix("multipart/form-data") { return multipartSecrets(in: body, contentType: contentType ?? "") }
        guard type.contains("json"), let object = try? JSONSerialization.jsonObject(with: body) else { return [] }
        var secrets: [String] = []
        collect(from: object, isSecret: false, in: &secrets)
        return secrets
    }

    private static func collect(from value: Any, isSecret: Bool, in secrets: inout [String]) {
        switch value {
        case let object as [String: Any]:
            for (name, member) in object {
                collect(from: member, isSecret: isSecret || isSensitive(name), in: &secrets)
            }
        case let elements as [Any]:
            for element in elements { collect(from: element, isSecret: isSecret, in: &secrets) }
        case let text as String where isSecret: secrets.append(text)
        default: break
        }
    }

    /// The texts of the parts of a form whose names denote a secret (RFC 7578). Files are none.
    private static func multipartSecrets(in body: Data, contentType: String) -> [String] {
        guard let start = contentType.range(of: "boundary=", options: .caseInsensitive)?.upperBound else { return [] }
        let boundary = contentType[start...].prefix { $0 != ";" }.filter { $0 != "\"" && $0 != " " }
        guard !boundary.isEmpty else { return [] }
        let parts = String(decoding: body, as: UTF8.self).components(separatedBy: "--\(boundary)")
        return parts.compactMap { part in
            guard let end = part.range(of: "\r\n\r\n") else { return nil }
            let head = part[..<end.lowerBound]
            guard !head.contains("filename"), let name = head.firstMatch(of: /name="([^"]*)"/)?.1,
                isSensitive(String(name))
            else { return nil }
            let value = part[end.upperBound...]
            return String(value.hasSuffix("\r\n") ? value.dropLast() : value)
        }
    }

    private static func formItems(_ text: String) -> [(name: String, value: String)] {
        text.split(separator: "&").compactMap { item in
            let parts = item.split(separator: "=", maxSplits: 1).map {
                $0.replacing("+", with: " ").removingPercentEncoding ?? String($0)
            }
            return parts.count == 2 ? (parts[0], parts[1]) : nil
        }
    }

    /// What may be shown of a body: JSON and forms without the values whose names denote a secret, other text without
    /// the secrets of the call.
    ///
    /// - Parameters:
    ///   - data: The body.
    ///   - contentType: The media type.
    /// - Returns: The text; `nil` where the body is neither JSON, a form nor text.
    package func body(_ data: Data, contentType: String?) -> String? {
        let type = contentType?.lowercased() ?? ""
        if type.contains("json"), let object = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
        {
            let options: JSONSerialization.WritingOptions = [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes]
            let shown = try? JSONSerialization.data(withJSONObject: shown(object), options: options)
            return shown.map { String(decoding: $0, as: UTF8.self) }
        }
        let isText = ["json", "text/", "xml", "javascript", "x-www-form-urlencoded"].contains { type.contains($0) }
        guard isText, let text = String(data: data, encoding: .utf8) else { return nil }
        guard type.contains("x-www-form-urlencoded") else { return self.text(Self.withoutSecretMembers(text)) }
        return text.split(separator: "&", omittingEmptySubsequences: false).map { item in
            guard let equals = item.firstIndex(of: "=") else { return self.text(String(item)) }
            let name = item[..<equals].removingPercentEncoding ?? ""
            return "\(item[...equals])\(value(String(item[item.index(after: equals)...]), named: name))"
        }
        .joined(separator: "&")
    }

    /// A JSON value in which each text and number under a sensitive name is the placeholder.
    private func shown(_ value: Any, isSecret: Bool = false) -> Any {
        switch value {
        case let object as [String: Any]:
            object.reduce(into: [String: Any]()) { shown, member in
                let isSecret = isSecret || Self.isSensitiveMember(member.key, member.value)
                shown[text(member.key)] = self.shown(member.value, isSecret: isSecret)
            }
        case let elements as [Any]: elements.map { shown($0, isSecret: isSecret) }
        case let text as String: isSecret ? Self.placeholder : self.text(text)
        case is NSNull: value
        default: isSecret ? Self.placeholder : value
        }
    }

    /// A text without the texts and numbers of JSON members whose names denote a secret: of JSON that was cut short, of lines
    /// and events of JSON, of a page with a script. A text that has no end is one.
    ///
    /// - Complexity: O(*n*) in the length of the text.
    static func withoutSecretMembers(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var (copied, position) = (0, 0)
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
            let secret = bytes.scalar(at: bytes.skippingSpace(from: colon + 1))
            let isText = bytes[secret.lowerBound - 1] == UInt8(ascii: "\"")
            let value: Any = isText ? String(decoding: bytes[secret], as: UTF8.self) : 0
            guard !secret.isEmpty, isSensitiveMember(String(decoding: bytes[name], as: UTF8.self), value) else {
                continue
            }
            result += bytes[copied..<secret.lowerBound] + placeholder.utf8
            (copied, position) = (secret.upperBound, secret.upperBound + 1)
        }
        guard copied > 0 else { return text }
        return String(decoding: result + bytes[min(copied, bytes.count)...], as: UTF8.self)
    }

    /// Whether a member holds a secret. Words such as `NOT_FOUND` under `code` and `done` under `state` are none.
    private static func isSensitiveMember(_ name: String, _ value: Any) -> Bool {
        guard isSensitive(name) else { return false }
        guard ["code", "state"].contains(name.lowercased()) else { return true }
        guard let text = value as? String else { return false }
        return !text.utf8.allSatisfy { $0 == 0x5F || ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) }
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

    fileprivate func skippingSpace(from start: Int) -> Int {
        var position = start
        while position < count, [0x20, 0x09, 0x0A, 0x0D].contains(self[position]) { position += 1 }
        return position
    }
}
