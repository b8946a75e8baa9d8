public import Foundation

/// The method and URL of a request for errors, events and logs, without user information and without the values of
/// query items that denote a secret (G17).
public struct RequestSummary: Sendable, Hashable, CustomStringConvertible {
    /// The request method.
    public let method: HTTPMethod

    /// The URL, redacted.
    public let url: String

    /// Creates a summary.
    ///
    /// - Parameters:
    ///   - method: The request method.
    ///   - url: The URL. The initializer redacts it.
    public init(method: HTTPMethod, url: URL) {
        self.method = method
        self.url = Redaction.url(url)
    }

    init(_ request: HTTPRequestHead) {
        self.init(method: request.method, url: request.url)
    }

    /// The method and URL.
    public var description: String { "\(method) \(url)" }
}
