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
