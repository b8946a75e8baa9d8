import Foundation

/// What may be shown of a URL.
enum Redaction {
    static let placeholder = "redacted"

    private static let sensitiveParts = [
        "token", "secret", "password", "passwd", "passphrase", "signature", "credential", "session", "auth", "apikey",
        "assertion", "jwt",
    ]
    private static let sensitiveNames: Set = ["code", "sig", "key", "pin", "otp", "pwd", "pass", "hmac", "sid"]

    /// Whether a name denotes a secret.
    static func isSensitive(_ name: String) -> Bool {
        let letters = name.lowercased().filter(\.isLetter)
        return sensitiveNames.contains(letters) || sensitiveParts.contains { letters.contains($0) }
    }

    static func value(_ value: String, ofQueryItem name: String) -> String {
        isSensitive(name) ? placeholder : value
    }

    static func url(_ url: URL) -> String {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "(unreadable URL)" }
        parts.user = nil
        parts.password = nil
        parts.fragment = nil
        parts.queryItems = parts.queryItems?.map { item in
            URLQueryItem(name: item.name, value: item.value.map { value($0, ofQueryItem: item.name) })
        }
        return parts.string ?? "(unreadable URL)"
    }
}

extension String {
    /// The most bytes of a text that are kept.
    private static let maximumTextLength = 4_096

    /// The most characters of a server's identifier that are kept.
    private static let maximumIdentifierLength = 128

    /// The text without the secrets of the call, for a server that quotes the request in its error (G17).
    ///
    /// Each secret is found as it is, percent-encoded, and encoded as in a form. A text of more than 4 KB is cut first,
    /// so that no part of a secret is left at its end.
    ///
    /// - Parameter secrets: The secrets. `nil` and empty ones are skipped.
    /// - Returns: The text with a placeholder in place of each secret.
    package func withoutQuoting(_ secrets: [String?]) -> String {
        let forms = Set(secrets.compactMap(\.self).filter { !$0.isEmpty }.flatMap(\.quotedForms))
            .sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
        var text = self
        let margin = forms.first?.utf8.count ?? 0
        let isCut = utf8.count > Self.maximumTextLength
        if isCut { text = String(decoding: utf8.prefix(Self.maximumTextLength + margin), as: UTF8.self) }
        for form in forms where text.contains(form) {
            text = text.replacing(form, with: Redaction.placeholder)
        }
        return isCut ? String(decoding: text.utf8.prefix(max(0, text.utf8.count - margin)), as: UTF8.self) : text
    }

    /// A server's code or request identifier for a log: without secrets of the call and control characters, and of
    /// bounded length.
    ///
    /// - Parameter secrets: The secrets of the call.
    /// - Returns: The identifier.
    package func asIdentifier(withoutQuoting secrets: [String?]) -> String {
        let bounded = withoutQuoting(secrets).prefix(Self.maximumIdentifierLength)
        return String(bounded.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
    }

    /// The forms in which a server may quote a secret.
    private var quotedForms: [String] {
        let encoded = percentEncodedComponent
        let lowercased = encoded.replacing(#/%[0-9A-F]{2}/#) { $0.output.lowercased() }
        return [self, encoded, encoded.replacing("%20", with: "+"), lowercased]
    }
}
