package import Foundation

/// Removes secrets from what descriptions, errors, logs, cURL text and HAR show (G17).
///
/// Two lines keep them out. A text of a response to a call that carried a credential is shown only where all that the
/// call carried is known, and its format too; of any other the length and a ``Fingerprint`` are. What is shown is
/// searched: by value, where the call carried it; by the name of its field or query item; and by shape (see
/// ``text(_:limit:)``). Values that are returned to a caller are never passed through it.
package struct Redaction: Sendable {
    /// The text in place of a secret.
    package static let placeholder = "redacted"

    /// The largest body that is searched: 1 MiB.
    package static let maximumBodySize = 1_024 * 1_024

    /// The shortest secret that is searched for, in bytes. A shorter one is part of nearly every text.
    static let minimumSecretLength = 3

    /// From this length on, in bytes, a secret is not found by accident. A shorter one is replaced where it is a word;
    /// a text with a word that contains it is not shown, because a part of the word could be read wrongly.
    static let unmistakableLength = 8

    /// A redaction by name and shape only.
    package static let standard = Redaction(secrets: [])

    let secrets: [QuotedSecret]
    /// Whether a form of a secret can begin with a byte.
    let firstBytes: [Bool]

    /// Whether all secrets of the call are known. If not, no text of its response is shown.
    package let isComplete: Bool

    /// Secrets that are too short to be searched for in a text. Those of a path are not shown in it.
    private let shortest: Set<String>

    /// How many URLs within a URL are looked into.
    var depth = CarriedSecrets.maximumDepth

    /// Whether the call carried nothing that could be a credential.
    package var isOfPublicCall: Bool { secrets.isEmpty && isComplete }

    /// Creates a redaction with the secrets of a call. `nil` and empty ones are skipped.
    package init(secrets: [String?]) { self.init(CarriedSecrets(secrets)) }

    /// Creates a redaction with the secrets of one request and of the call that it is part of: its token wherever it
    /// was placed, what the endpoint marks as a secret in its path, and what its fields, URL and body have.
    package init(of request: HTTPTransportRequest) {
        var carried = CarriedSecrets(request.context.secrets + request.context.tokens)
        carried.add(request.head)
        if let message = request.context.message {
            carried.add(message)
        } else {
            carried.add(request.body, contentType: request.head.headers["Content-Type"])
        }
        self.init(carried)
    }

    init(_ carried: CarriedSecrets) {
        let searched = carried.values.filter { $0.utf8.count >= Self.minimumSecretLength }
        shortest = carried.values.subtracting(searched)
        isComplete = carried.areComplete
        // The longest is found first where one is a part of another.
        secrets = searched.flatMap(QuotedSecret.forms).sorted {
            ($0.bytes.count, String(decoding: $0.bytes, as: UTF8.self))
                > ($1.bytes.count, String(decoding: $1.bytes, as: UTF8.self))
        }
        var firstBytes = [Bool](repeating: false, count: secrets.isEmpty ? 0 : 256)
        for byte in secrets.flatMap(\.firstBytes) { firstBytes[Int(byte)] = true }
        self.firstBytes = firstBytes
    }

    /// What is shown in place of a body or of its start: the media type, the length of the whole body in bytes, and the
    /// fingerprint: `text/html, 512 bytes, #5f0c1234abcd9876`.
    package func fingerprint(of data: Data, length: Int, contentType: String?) -> String {
        let type = MediaType(contentType).map { identifier($0.text) + ", " } ?? ""
        return "\(type)\(Fingerprint.of(data, length: length))"
    }

    /// What may be shown of the value of a query item, a form field or a member of an object: the placeholder where the
    /// name denotes a secret, and else the value, or the URL that it is, without secrets.
    package func value(_ value: String, named name: String) -> String {
        guard !Self.isSensitive(name) else { return Self.placeholder }
        if let url = Self.address(value) { return text(self.url(url)) }
        return CarriedSecrets(in: value).values.isEmpty ? text(value) : Self.placeholder
    }

    /// What may be shown of a header field: as of a query item; entity tags and identifiers of requests and traces are.
    package func fieldValue(_ value: String, named name: String) -> String {
        let lowercased = name.lowercased()
        if Self.legibleFields.contains(lowercased) { return search(value, byShape: false) ?? Self.placeholder }
        if lowercased == "location" || lowercased == "referer" || lowercased == "content-location" {
            return URL(string: value).map(url) ?? Self.placeholder
        }
        if lowercased == "link" { return text(links(value)) }
        return self.value(value, named: name)
    }

    /// A list of links (RFC 8288 §3), each without the secrets of its URL.
    private func links(_ value: String) -> String {
        value.replacing(/<([^<>]*)>/) { "<\(URL(string: String($0.output.1)).map(url) ?? Self.placeholder)>" }
    }

    /// What may be shown of the value of a header field of a response: as of a request; where secrets of the call are
    /// not known, only dates, lengths and what looks like a name.
    package func responseFieldValue(_ value: String, named name: String) -> String {
        guard !isComplete, !Self.isSensitive(name) else { return fieldValue(value, named: name) }
        let isLength = ["content-length", "age"].contains(name.lowercased()) && UInt64(value) != nil
        return isLength || HTTPDate(value) != nil ? value : identifier(value)
    }

    /// What may be shown of a URL: no user information, no fragment, the values of harmless query items only (see
    /// ``isHarmless(_:_:depth:)``), and no secret in the path.
    package func url(_ url: URL) -> String { self.url(url) { _, _ in } }

    /// The same, and calls a closure with each value that its name or its place hides, decoded, and with its name.
    func url(_ url: URL, hiding hide: (String, String) -> Void) -> String {
        // `URLComponents` must not take the parts back: it ends the process where one is no valid percent-encoding.
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "(unreadable URL)" }
        if let user = parts.user { hide(user, "user") }
        if let password = parts.password { hide(password, "password") }
        if let fragment = parts.percentEncodedFragment { _ = query(fragment, hiding: hide) }
        let authority = parts.encodedHost.map { "//" + text($0) + (parts.port.map { ":\($0)" } ?? "") } ?? ""
        let query = parts.percentEncodedQuery.map { "?" + self.query($0, hiding: hide) } ?? ""
        let path = path(parts.percentEncodedPath, hiding: hide)
        return (parts.scheme.map { text($0) + ":" } ?? "") + authority + path + query
    }

    /// What may be shown of the URL of a request. One that a server has chosen, in a redirect, is a text of a response.
    package func url(_ url: URL, of message: CallMessage?) -> String {
        guard let message, message.isRedirected, !isComplete else { return self.url(url) }
        let origin = Origin(url).flatMap { $0 == Origin(message.head.url) ? $0.description : nil }
        return "\(origin ?? Self.placeholder)/\(Self.placeholder)"
    }

    /// A part of a URL without secrets. Of a percent-encoded byte in which a secret begins, nothing is left.
    private func encoded(_ text: String) -> String {
        guard let shown = search(text) else { return Self.placeholder }
        guard shown != text, shown.contains("%") else { return shown }
        return shown.replacing(/%[0-9A-Fa-f]?redacted/) { _ in Self.placeholder }
    }

    /// A percent-encoded query without the values of items that are not harmless.
    private func query(_ query: String, hiding hide: (String, String) -> Void) -> String {
        query.split(separator: "&", omittingEmptySubsequences: false).map { item in
            guard let equals = item.firstIndex(of: "=") else {
                // An item without a name may be a secret as a whole. A flag is a word.
                let isWord = item.utf8.count < Self.unmistakableLength || item.allSatisfy { $0.isLetter || $0 == "-" }
                if isWord || Self.isHarmless(String(item)) { return encoded(String(item)) }
                return hidden(item, "", hide)
            }
            let (name, value) = (item[..<equals].removingPercentEncoding ?? "", item[item.index(after: equals)...])
            let isShown = value.isEmpty || Self.isHarmless(name, String(value).formDecoded, depth: depth)
            return encoded(String(item[..<equals])) + "="
                + (isShown ? encoded(String(value)) : hidden(value, name, hide))
        }
        .joined(separator: "&")
    }

    private func hidden(_ value: Substring, _ name: String, _ hide: (String, String) -> Void) -> String {
        hide(String(value).formDecoded, name)
        return Self.placeholder
    }

    /// A percent-encoded path without the segments that hold a secret: by value and shape, the value of a parameter
    /// (`;jsessionid=…`) whose name denotes a secret, and a segment with a digit after one such as `reset-token`.
    func path(_ path: String, hiding hide: (String, String) -> Void = { _, _ in }) -> String {
        var announcesSecret = false
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).map { segment -> String in
            defer { announcesSecret = Self.announcesSecret(segment) }
            if announcesSecret, segment.utf8.count >= Self.unmistakableLength, segment.contains(where: \.isNumber) {
                return hidden(segment, "", hide)
            }
            guard segment.contains(";") || segment.contains("=") else { return String(segment) }
            return segment.split(separator: ";", omittingEmptySubsequences: false).map { parameter in
                guard let equals = parameter.firstIndex(of: "="), case let name = String(parameter[..<equals]),
                    Self.isSensitive(name)
                else { return String(parameter) }
                return "\(name)=" + hidden(parameter[equals...].dropFirst(), name, hide)
            }
            .joined(separator: ";")
        }
        return segments.map { encoded(withoutShortest($0)) }.joined(separator: "/")
    }

    /// A segment of a path without the words that are secrets and too short to be searched for in a text.
    private func withoutShortest(_ segment: String) -> String {
        guard !shortest.isEmpty else { return segment }
        return segment.replacing(/[A-Za-z0-9%]+/) { word in
            shortest.contains(word.output.removingPercentEncoding ?? "") ? Self.placeholder : String(word.output)
        }
    }
}

extension String {
    /// The most bytes of a text that are kept.
    static let maximumTextLength = 4_096

    /// The text without the secrets of the call, for a server that quotes the request in its error (G17). A text of
    /// more than 4 KB is cut. Secrets that are `nil` or empty are skipped.
    package func withoutQuoting(_ secrets: [String?]) -> String {
        Redaction(secrets: secrets).text(self, limit: Self.maximumTextLength)
    }

    /// The text as an error keeps it: without secrets, and cut.
    func redacted(by redaction: Redaction) -> String { redaction.text(self, limit: Self.maximumTextLength) }

    /// A server's code or request identifier of an error that has lost the call's secrets: without secrets of the call
    /// and control characters, and of bounded length.
    package func asIdentifier(withoutQuoting secrets: [String?]) -> String { Redaction(secrets: secrets).code(self) }
}
