import Foundation

/// The secrets that a call carries, and whether they are all known (G17).
///
/// This is the one place that decides whether a call carries a credential: the tokens of the session, what the endpoint
/// marks as a secret, what is not shown of a URL, the values of fields and members of the body whose names denote a
/// secret; and a body that is too large or of another format, which may hold any.
struct CarriedSecrets: Sendable {
    /// The most secrets of one call that are searched for.
    static let maximumCount = 64

    /// How many URLs are looked into, each within the one before: a server may have chosen them.
    static let maximumDepth = 2

    /// The secrets, each once.
    private(set) var values: Set<String> = []

    /// Whether each secret of the call is among the values. If not, no search can clear a text of a response.
    private(set) var areComplete = true

    /// How many URLs more are looked into.
    private var depth: Int

    init(_ values: [String?] = [], in text: String = "", depth: Int = Self.maximumDepth) {
        self.depth = depth
        for case let value? in values { add(value) }
        if !text.isEmpty { add(text, named: "") }
    }

    /// Adds a secret. One that is shorter than ``Redaction/minimumSecretLength`` is none.
    private mutating func add(_ value: String) {
        guard !value.isEmpty, !values.contains(value) else { return }
        guard values.count < Self.maximumCount else { return areComplete = false }
        values.insert(value)
    }

    /// Adds a value under a name that denotes a secret, or one that is hidden and unmistakable; and what is in it.
    private mutating func add(_ value: String, named name: String, isHidden: Bool = false) {
        let decoded = value.removingPercentEncoding ?? value
        let isSecret = Redaction.isSensitive(name) && !Redaction.isWord(value, under: name)
        if isSecret || (isHidden && value.isUnmistakable) { for form in [value, decoded] { add(form) } }
        addContent(of: decoded)
        if decoded != value { addContent(of: value) }
    }
}

// Heads.
extension CarriedSecrets {
    /// Adds what is not shown of the URL, and of each field whose name denotes a secret the value, what is after a
    /// scheme, and the cookies or parameters (RFC 9110 §11.4, RFC 6265 §4.2.1).
    mutating func add(_ head: HTTPRequestHead) {
        add(head.url)
        for (name, value) in head.headers.map({ ($0.name.lowercased(), $0.value) }) {
            addContent(of: value)
            guard Redaction.isSensitive(name) else { continue }
            add(value)
            if let space = value.firstIndex(of: " "), case let rest = String(value[space...].dropFirst()) {
                addPair(rest)
                if let pair = Data(base64Encoded: rest).flatMap({ String(data: $0, encoding: .utf8) }) { addPair(pair) }
            }
            for parameter in value.parameters(ofCookie: name == "cookie") {
                add(parameter.value, named: parameter.name, isHidden: true)
            }
        }
    }

    /// Adds what is not shown of a URL. A word of letters under a name that says nothing is no secret. A URL deep in
    /// others is one as a whole, unless it is a path.
    private mutating func add(_ url: URL) {
        guard depth > 0 else {
            if url.absoluteString.contains(where: { "?#@;".contains($0) }) { add(url.absoluteString) }
            return
        }
        depth -= 1
        defer { depth += 1 }
        var redaction = Redaction.standard
        redaction.depth = depth
        _ = redaction.url(url) { add($0, named: $1, isHidden: !$0.utf8.allSatisfy(\.isLetter)) }
    }

    /// Adds the password of `Basic` (RFC 7617), and a long user, or one without a password; and so for any scheme.
    private mutating func addPair(_ pair: String) {
        add(pair)
        let parts = pair.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let password = parts.dropFirst().first ?? ""
        add(parts[0], named: password.isEmpty ? "password" : "", isHidden: true)
        add(password, named: "password")
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
            case .data(let data)
            where (part.filename ?? part.contentType) == nil && data.count <= Redaction.maximumBodySize:
                add(String(decoding: data, as: UTF8.self), named: part.name)
            case .data(let data): add(data, contentType: part.contentType)
            case .file: addUnread(contentType: part.contentType)
            }
        }
    }

    private mutating func addUnread(contentType: String?) {
        if MediaType(contentType)?.holdsNoCredential != true { areComplete = false }
    }

    private mutating func add(_ data: Data, contentType: String?) {
        let type = MediaType(contentType)
        guard !data.isEmpty, type?.holdsNoCredential != true else { return }
        guard data.count <= Redaction.maximumBodySize else { return areComplete = false }
        if type?.isForm == true {
            for item in String(decoding: data, as: UTF8.self).formItems { add(item.value, named: item.name) }
        } else if let object = try? JSONSerialization.jsonObject(with: data) {
            addMembers(of: object)
        } else {
            areComplete = false
        }
    }

    /// Adds the texts and numbers of members whose names denote a secret, and the long ones inside of such a member.
    private mutating func addMembers(of value: Any, under name: String = "", isInherited: Bool = false) {
        switch value {
        case let object as [String: Any]:
            let isInherited = isInherited || Redaction.isSensitive(name)
            for member in Redaction.members(of: object) {
                addMembers(of: member.value, under: member.name, isInherited: isInherited)
            }
        case let elements as [Any]:
            for element in elements { addMembers(of: element, under: name, isInherited: isInherited) }
        case is NSNull: break
        default:
            let text = value as? String ?? "\(value)"
            add(text, named: name, isHidden: isInherited)
        }
    }

    /// Adds what a URL hides, what JSON in a text has, or the arguments of GraphQL: `login(password: "…")`.
    private mutating func addContent(of text: String) {
        if let url = Redaction.address(text) { add(url) }
        let first = text.utf8.first { $0 > 0x20 }
        if first == 0x7B || first == 0x5B, let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) {
            return addMembers(of: object)
        }
        for colon in text.indices where text[colon] == ":" {
            let name = text[..<colon].reversed().drop { " \"".contains($0) }.prefix { $0.isLetter || $0 == "_" }
            guard Redaction.isSensitive(String(name.reversed())),
                let found = text[colon...].prefixMatch(of: /:\s*(?:"((?:[^"\\]|\\.){1,4096})"|([0-9]{4,}))/)
            else { continue }
            add(String(found.1 ?? found.2 ?? ""), named: String(name.reversed()))
        }
    }
}

extension String {
    /// The text without the encoding of forms and queries.
    var formDecoded: String { replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? self }

    /// The names and values of a form, without its encoding where that is valid. Without `=` the value is empty.
    var formItems: [(name: String, value: String)] {
        split(separator: "&").map { item in
            let name = item.prefix { $0 != "=" }
            return (String(name).formDecoded, String(item.dropFirst(name.count + 1)).formDecoded)
        }
    }

    /// The cookies or parameters in the text, without quotes: `a=b; c="d e"`. Linear in the length of the text.
    fileprivate func parameters(ofCookie isCookie: Bool) -> [(name: String, value: String)] {
        let marks = isCookie ? ";" : ",;&\""
        func isSeparator(_ character: Character) -> Bool { character.isWhitespace || marks.contains(character) }
        var parameters: [(name: String, value: String)] = []
        var rest = self[...]
        while let equals = rest.firstIndex(of: "=") {
            let name = rest[..<equals].split(whereSeparator: isSeparator).last
            rest = rest[equals...].dropFirst().drop(while: \.isWhitespace)
            let quote = rest.first == "\"" ? rest.dropFirst().firstIndex(of: "\"") : nil
            let end = quote ?? rest.firstIndex { isCookie ? $0 == ";" : isSeparator($0) } ?? rest.endIndex
            if let name { parameters.append((String(name), rest[..<end].trimmingCharacters(in: ["\""]))) }
            rest = rest[end...]
        }
        return parameters
    }

    /// Whether the text is so long that it is found in another one by its own value only, and never by accident.
    var isUnmistakable: Bool { utf8.count >= Redaction.unmistakableLength }
}

extension MediaType {
    package var isForm: Bool { text == "application/x-www-form-urlencoded" }
    package var isJSON: Bool { text.hasSuffix("/json") || text.hasSuffix("+json") }

    /// Whether the content is a picture, a recording or a document, which no server takes for a credential.
    var holdsNoCredential: Bool {
        let families = ["image/", "audio/", "video/", "font/", "application/pdf", "application/zip"]
        return text != "image/svg+xml" && families.contains { text.hasPrefix($0) }
    }
}
