package import Foundation

/// Removes secrets from what descriptions, errors, logs, cURL text and HAR show (G17).
///
/// A secret is found in three ways: by value, where the call carried it; by the name of its field or query item; and by
/// shape (see ``text(_:limit:)``). Values that are returned to a caller are never passed through it.
package struct Redaction: Sendable {
    /// The text in place of a secret.
    package static let placeholder = "redacted"

    /// The shortest text, in bytes, that counts as a secret of a call. A shorter one would be found by accident.
    package static let minimumSecretLength = 8

    /// The most secrets of one call. The first ones count.
    static let maximumSecrets = 64

    /// A redaction by name and shape only.
    package static let standard = Redaction(secrets: [])

    let secrets: [QuotedSecret]
    /// Whether a form of a secret can begin with a byte.
    let firstBytes: [Bool]

    /// Creates a redaction.
    ///
    /// - Parameters:
    ///   - secrets: The secrets of a call, the most important first. `nil`, and those that are too short, are skipped.
    ///   - minimumLength: The shortest secret, in bytes.
    package init(secrets: [String?], minimumLength: Int = minimumSecretLength) {
        var texts: Set<String> = []
        for case let text? in secrets where !text.isEmpty && text.utf8.count >= minimumLength {
            guard texts.count < Self.maximumSecrets else { break }
            texts.insert(text)
        }
        // The longest is found first where one is a part of another.
        let sorted = texts.sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
        self.secrets = sorted.flatMap(QuotedSecret.forms)
        var firstBytes = [Bool](repeating: false, count: self.secrets.isEmpty ? 0 : 256)
        for byte in self.secrets.flatMap(\.firstBytes) { firstBytes[Int(byte)] = true }
        self.firstBytes = firstBytes
    }

    /// What may be shown of the value of a query item, a form field or a member of an object.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - name: The name.
    /// - Returns: The value, or the placeholder where the name denotes a secret; without secrets of the call.
    package func value(_ value: String, named name: String) -> String {
        Self.isSensitive(name) ? Self.placeholder : text(value)
    }

    /// What may be shown of the value of a header field. Entity tags and identifiers of requests and traces are shown.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - name: The name of the field.
    /// - Returns: The value, or the placeholder where the name denotes a secret; without secrets of the call.
    package func fieldValue(_ value: String, named name: String) -> String {
        let lowercased = name.lowercased()
        if Self.legibleFields.contains(lowercased) { return quoted(value, byShape: false) }
        if lowercased == "location" || lowercased == "referer" || lowercased == "content-location" {
            return URL(string: value).map(url) ?? Self.placeholder
        }
        return self.value(value, named: name)
    }

    /// What may be shown of a URL: no user information, no fragment, the values of harmless query items only (see
    /// ``isHarmless(_:)``), and no secret in the path.
    ///
    /// - Parameter url: The URL.
    /// - Returns: The URL as text.
    package func url(_ url: URL) -> String {
        // `URLComponents` must not take the parts back: it ends the process where one is no valid percent-encoding.
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "(unreadable URL)" }
        let authority = parts.encodedHost.map { "//" + text($0) + (parts.port.map { ":\($0)" } ?? "") } ?? ""
        let query = parts.percentEncodedQuery.map { "?" + self.query($0) } ?? ""
        return (parts.scheme.map { text($0) + ":" } ?? "") + authority + path(parts.percentEncodedPath) + query
    }

    /// A part of a URL without secrets. Of a percent-encoded byte in which a secret begins, nothing is left.
    private func encoded(_ text: String) -> String {
        let shown = self.text(text)
        guard shown != text, shown.contains("%") else { return shown }
        return shown.replacing(/%[0-9A-Fa-f]?redacted/) { _ in Self.placeholder }
    }

    /// A percent-encoded query without the values of items that are not harmless.
    private func query(_ query: String) -> String {
        query.split(separator: "&", omittingEmptySubsequences: false).map { item in
            guard let equals = item.firstIndex(of: "=") else {
                // An item without a name may be a secret as a whole. A flag is a word.
                let isWord = item.utf8.count < Self.minimumSecretLength || item.allSatisfy { $0.isLetter || $0 == "-" }
                return isWord || Self.isHarmless(String(item)) ? encoded(String(item)) : Self.placeholder
            }
            let name = item[..<equals].removingPercentEncoding ?? ""
            let value = String(item[item.index(after: equals)...])
            let shown = Self.isHarmless(name) || value.isEmpty ? encoded(value) : Self.placeholder
            return "\(encoded(String(item[..<equals])))=\(shown)"
        }
        .joined(separator: "&")
    }

    /// A percent-encoded path without the segments that hold a secret: by value and shape, the value of a parameter
    /// (`;jsessionid=…`) whose name denotes a secret, and a segment with a digit after one such as `reset-token`.
    func path(_ path: String) -> String {
        var announcesSecret = false
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).map { segment -> String in
            defer { announcesSecret = Self.announcesSecret(segment) }
            if announcesSecret, segment.utf8.count >= Self.minimumSecretLength, segment.contains(where: \.isNumber) {
                return Self.placeholder
            }
            guard segment.contains(";") || segment.contains("=") else { return String(segment) }
            return segment.split(separator: ";", omittingEmptySubsequences: false).map { parameter in
                guard let equals = parameter.firstIndex(of: "="), Self.isSensitive(String(parameter[..<equals]))
                else { return String(parameter) }
                return "\(parameter[...equals])\(Self.placeholder)"
            }
            .joined(separator: ";")
        }
        return segments.map { encoded($0) }.joined(separator: "/")
    }
}

// Names.
extension Redaction {
    /// The fields whose values are shown, in lower case.
    private static let legibleFields: Set = [
        "etag", "if-match", "if-none-match", "x-request-id", "request-id", "x-correlation-id", "x-amzn-requestid",
        "x-amz-request-id", "x-amz-id-2", "cf-ray", "traceparent", "tracestate", "x-trace-id", "x-b3-traceid",
        "x-cloud-trace-context", "date", "last-modified", "content-type", "content-length",
    ]

    private static let sensitiveParts = [
        "token", "secret", "password", "passwd", "passphrase", "passcode", "signature", "credential", "session", "auth",
        "apikey", "accesskey", "subscriptionkey", "privatekey", "secretkey", "signingkey", "functionskey", "assertion",
        "jwt", "saml", "cookie", "verifier", "bearer", "ticket", "csrf", "xsrf",
    ]
    private static let sensitiveNames: Set = [
        "code", "sig", "key", "pin", "otp", "totp", "pwd", "pw", "pass", "hmac", "sid", "state", "nonce", "refresh",
        "idempotencykey", "devicecode", "usercode", "cvv", "cvc",
    ]

    /// Whether a name denotes a secret: of a query item, a form field, a header field or a member of an object.
    package static func isSensitive(_ name: String) -> Bool {
        var letters = name.lowercased().filter(\.isLetter)
        // An author is no secret, and an authorization is one.
        if letters.contains("author"), !letters.contains("authoriz"), !letters.contains("authoris") {
            letters = letters.replacingOccurrences(of: "author", with: "")
        }
        return sensitiveNames.contains(letters) || sensitiveParts.contains { letters.contains($0) }
    }

    private static let harmlessNames: Set = [
        "cursor", "after", "before", "limit", "offset", "page", "perpage", "pagesize", "size", "count", "first",
        "last", "skip", "top", "sort", "sortby", "order", "orderby", "q", "query", "search", "fields", "include",
        "expand", "lang", "language", "locale", "format", "version", "v", "apiversion", "type", "category", "tag",
        "tags", "status", "since", "until", "from", "to", "date", "year", "month", "day", "id", "ids", "width",
        "height",
    ]

    /// Whether the value of a query item may be shown: the name is of paging, sorting, searching or selecting. The value
    /// of any other is redacted, because an API is free to name its secrets.
    package static func isHarmless(_ name: String) -> Bool {
        harmlessNames.contains(name.lowercased().filter(\.isLetter))
    }

    private static let announcingWords: Set = [
        "token", "tokens", "secret", "secrets", "password", "passwords", "reset", "invite", "invites", "invitation",
        "invitations", "verify", "verification", "confirm", "confirmation", "activate", "activation", "magic", "otp",
        "unsubscribe", "key", "keys", "apikey", "apikeys", "ticket", "tickets", "code", "codes", "signin", "login",
    ]

    /// Whether the segment of a path after this one may be a secret: `reset-password`, `magic-link`, `tokens`.
    private static func announcesSecret(_ segment: Substring) -> Bool {
        segment.lowercased().split { !$0.isLetter }.contains { announcingWords.contains(String($0)) }
    }
}

extension String {
    /// The most bytes of a text that are kept.
    private static let maximumTextLength = 4_096

    /// The most characters of a server's identifier that are kept.
    private static let maximumIdentifierLength = 128

    /// The text without the secrets of the call, for a server that quotes the request in its error (G17). A text of more
    /// than 4 KB is cut.
    ///
    /// - Parameter secrets: The secrets, of any length. `nil` and empty ones are skipped.
    /// - Returns: The text with a placeholder in place of each secret.
    package func withoutQuoting(_ secrets: [String?]) -> String {
        Redaction(secrets: secrets, minimumLength: 1).text(self, limit: Self.maximumTextLength)
    }

    /// The text as an error keeps it: without secrets, and cut.
    func redacted(by redaction: Redaction) -> String {
        redaction.text(self, limit: Self.maximumTextLength)
    }

    /// A server's code or request identifier for a log: without secrets of the call and control characters, and of
    /// bounded length.
    ///
    /// - Parameter secrets: The secrets of the call.
    /// - Returns: The identifier.
    package func asIdentifier(withoutQuoting secrets: [String?]) -> String {
        let redaction = Redaction(secrets: secrets, minimumLength: 1)
        let bounded = redaction.quoted(self, limit: Self.maximumTextLength, byShape: false)
            .prefix(Self.maximumIdentifierLength)
        return String(bounded.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
    }
}
