import Foundation

/// The secrets that a call carries, and whether they are all known (G17).
///
/// This is the one place that decides whether a call carries a credential: the tokens of the session, what the endpoint
/// marks as a secret, the values of fields, query items and members of the body whose names denote a secret; and a body
/// that is too large or of another format, which may hold any.
struct CarriedSecrets: Sendable {
    /// The most secrets of one call that are searched for.
    static let maximumCount = 64

    /// The secrets, each once.
    private(set) var values: Set<String> = []

    /// Whether each secret of the call is among the values. If not, no search can clear a text of a response.
    private(set) var areComplete = true

    init(_ values: [String?] = []) {
        for case let value? in values { add(value) }
    }

    /// Adds a secret. One that is shorter than ``Redaction/minimumSecretLength`` is none.
    private mutating func add(_ value: String) {
        guard !value.isEmpty, !values.contains(value) else { return }
        guard values.count < Self.maximumCount else { return areComplete = false }
        values.insert(value)
    }

    /// Adds the value under a name that denotes a secret.
    private mutating func add(_ value: String, named name: String) {
        if Redaction.isSensitive(name), !Redaction.isWord(value, under: name) { add(value) }
    }
}

// Heads.
extension CarriedSecrets {
    /// Adds the values of fields and query items whose names denote a secret; of `Authorization` also the part after
    /// the scheme, and the password of `Basic`; and the cookies.
    mutating func add(_ head: HTTPRequestHead) {
        for field in head.headers where Redaction.isSensitive(field.name) {
            add(field.value)
            let words = field.value.split(separator: " ", maxSplits: 1)
            guard words.count == 2 else { continue }
            add(String(words[1]))
            if words[0].lowercased() == "basic", let decoded = Data(base64Encoded: String(words[1])) {
                addBasic(String(decoding: decoded, as: UTF8.self))
            }
        }
        for cookie in head.headers.values(of: "Cookie").flatMap({ $0.split(separator: ";") }) {
            guard let equals = cookie.firstIndex(of: "=") else { continue }
            let value = String(cookie[cookie.index(after: equals)...])
            if value.isUnmistakable { add(value) } else { add(value, named: String(cookie[..<equals])) }
        }
        if let query = URLComponents(url: head.url, resolvingAgainstBaseURL: true)?.percentEncodedQuery {
            addItems(query)
        }
    }

    /// Adds the password of `Basic` (RFC 7617), and the user where it is long, or the key of a server without
    /// passwords.
    private mutating func addBasic(_ pair: String) {
        add(pair)
        let parts = pair.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let password = parts.count == 2 ? parts[1] : ""
        for part in [parts[0], password] where part == password || part.isUnmistakable || password.isEmpty {
            add(part)
            if let decoded = part.removingPercentEncoding { add(decoded) }
        }
    }

    private mutating func addItems(_ text: some StringProtocol) {
        for item in text.split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1).map {
                $0.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? String($0)
            }
            if parts.count == 2 { add(parts[1], named: parts[0]) }
        }
    }
}

/// What a call has to send, also where a redirect has dropped the body and fields of its last request.
package struct CallMessage: Sendable {
    /// The endpoint's.
    let head: HTTPRequestHead
    let body: HTTPBody
    /// The parts of the body, where it is a form of parts.
    let form: MultipartForm?
    /// Whether a server has chosen where the last request goes.
    let isRedirected: Bool
}

// Bodies.
extension CarriedSecrets {
    /// Adds what a call has to send.
    mutating func add(_ message: CallMessage) {
        add(message.head)
        if let form = message.form {
            add(form)
        } else {
            add(message.body, contentType: message.head.headers["Content-Type"])
        }
    }

    /// Adds what a body holds: JSON, with any label, and forms, by names.
    mutating func add(_ body: HTTPBody, contentType: String?) {
        guard !body.isEmpty else { return }
        if let data = body.data { add(data, contentType: contentType) } else { addUnread(contentType: contentType) }
    }

    /// Adds what the parts of a form hold. A form that is too large for the memory is known by its parts too.
    mutating func add(_ form: MultipartForm) {
        for part in form.parts {
            switch part.content {
            case .data(let data) where part.filename == nil && part.contentType == nil:
                addText(data, named: part.name)
            case .data(let data): add(data, contentType: part.contentType)
            case .file: addUnread(contentType: part.contentType)
            }
        }
    }

    private mutating func addUnread(contentType: String?) {
        if contentType.flatMap({ MediaType($0) })?.holdsNoCredential != true { areComplete = false }
    }

    private mutating func addText(_ data: Data, named name: String) {
        guard Redaction.isSensitive(name) else { return }
        guard data.count <= Redaction.maximumBodySize else { return areComplete = false }
        add(String(decoding: data, as: UTF8.self), named: name)
    }

    private mutating func add(_ data: Data, contentType: String?) {
        let type = contentType.flatMap { MediaType($0) }
        guard !data.isEmpty, type?.holdsNoCredential != true else { return }
        guard data.count <= Redaction.maximumBodySize else { return areComplete = false }
        if type?.isForm == true {
            addItems(String(decoding: data, as: UTF8.self))
        } else if type?.isFormOfParts == true {
            addParts(data, contentType: contentType ?? "")
        } else if let object = try? JSONSerialization.jsonObject(with: data) {
            addMembers(of: object, under: nil, isInherited: false)
        } else {
            areComplete = false
        }
    }

    /// Adds the texts and numbers of members whose names denote a secret, and the long ones inside of such a member.
    private mutating func addMembers(of value: Any, under name: String?, isInherited: Bool) {
        switch value {
        case let object as [String: Any]:
            let isInherited = isInherited || name.map(Redaction.isSensitive) == true
            for member in object { addMembers(of: member.value, under: member.key, isInherited: isInherited) }
        case let elements as [Any]:
            for element in elements { addMembers(of: element, under: name, isInherited: isInherited) }
        case is NSNull: break
        default:
            let text = value as? String ?? "\(value)"
            if isInherited, text.isUnmistakable { add(text) } else if let name { add(text, named: name) }
        }
    }

    /// Adds the parts of an encoded form (RFC 7578).
    private mutating func addParts(_ data: Data, contentType: String) {
        guard let start = contentType.range(of: "boundary=", options: .caseInsensitive)?.upperBound else {
            return areComplete = false
        }
        let boundary = contentType[start...].prefix { $0 != ";" }.filter { $0 != "\"" && $0 != " " }
        guard !boundary.isEmpty else { return areComplete = false }
        let end = Data("\r\n\r\n".utf8)
        for part in data.parts(separatedBy: Data("--\(boundary)".utf8)) {
            guard let headEnd = part.range(of: end) else { continue }
            let head = String(decoding: part[..<headEnd.lowerBound], as: UTF8.self)
            var content = Data(part[headEnd.upperBound...])
            if content.suffix(2) == Data("\r\n".utf8) { content.removeLast(2) }
            let type = head.firstMatch(of: /(?i)content-type:[ \t]*([^\r\n]*)/).map { String($0.1) }
            let name = head.firstMatch(of: /(?i)[; ]name="([^"]*)"/).map { String($0.1) } ?? ""
            let isFile = head.firstMatch(of: /(?i)[; ]filename\*?=/) != nil
            if type == nil, !isFile { addText(content, named: name) } else { add(content, contentType: type) }
        }
    }
}

extension String {
    /// Whether the text is so long that it is found in another one by its own value only, and never by accident.
    var isUnmistakable: Bool { utf8.count >= Redaction.unmistakableLength }
}

extension Data {
    /// What stands between the places of a separator. `split(separator:)` takes fifty times as long, 0.1 s for 1 MiB.
    fileprivate func parts(separatedBy separator: Data) -> [Data] {
        var parts: [Data] = []
        var rest = self[...]
        while let range = rest.range(of: separator) {
            parts.append(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
        }
        return parts + [rest]
    }
}

extension MediaType {
    package var isForm: Bool { text == "application/x-www-form-urlencoded" }
    var isFormOfParts: Bool { text == "multipart/form-data" }
    package var isJSON: Bool { text.hasSuffix("/json") || text.hasSuffix("+json") }

    /// Whether the content is a picture, a recording or a document, which no server takes for a credential.
    var holdsNoCredential: Bool {
        let families = ["image/", "audio/", "video/", "font/", "application/pdf", "application/zip"]
        return text != "image/svg+xml" && families.contains { text.hasPrefix($0) }
    }
}
