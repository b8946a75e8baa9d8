public import Foundation

/// What a request asked for, as far as it may be told: method and address, without user information and without the
/// values of token-like query items (G17).
public struct RequestSummary: Sendable, Hashable, CustomStringConvertible {
    /// The request method.
    public let method: HTTPMethod

    /// The address, redacted.
    public let url: String

    /// Creates a summary.
    ///
    /// - Parameters:
    ///   - method: The request method.
    ///   - url: The address. It is redacted here.
    public init(method: HTTPMethod, url: URL) {
        self.method = method
        self.url = Redaction.url(url)
    }

    init(_ request: HTTPRequestHead) {
        self.init(method: request.method, url: request.url)
    }

    /// Method and address.
    public var description: String { "\(method) \(url)" }
}

/// What may be told of an address.
enum Redaction {
    static let placeholder = "redacted"

    private static let telltales = [
        "token", "secret", "password", "passwd", "passphrase", "signature", "credential", "session", "auth", "apikey",
        "assertion", "jwt",
    ]
    private static let exact: Set = ["code", "sig", "key", "pin", "otp", "pwd", "pass", "hmac", "sid"]

    /// Whether a name says that its value is a secret.
    static func isSensitive(_ name: String) -> Bool {
        let letters = name.lowercased().filter(\.isLetter)
        return exact.contains(letters) || telltales.contains { letters.contains($0) }
    }

    static func value(_ value: String, ofQueryItem name: String) -> String {
        isSensitive(name) ? placeholder : value
    }

    static func url(_ url: URL) -> String {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "(unreadable address)" }
        parts.user = nil
        parts.password = nil
        parts.fragment = nil
        parts.queryItems = parts.queryItems?.map { item in
            URLQueryItem(name: item.name, value: item.value.map { value($0, ofQueryItem: item.name) })
        }
        return parts.string ?? "(unreadable address)"
    }
}
