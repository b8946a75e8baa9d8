public import AuthInterface
import ConcurrencyPrimitives
public import Foundation

extension NetworkError: RedactedDescription {
    /// One line that says what happened, without a secret:
    /// `GET https://api.example.com/articles/7 → 404 NOT_FOUND "No such article" (request 5f0c…, 42 ms)`.
    ///
    /// The number of the attempt is part of the line from the second attempt on.
    public var description: String {
        let prefix = request.map { "\($0) → " } ?? ""
        return prefix + outcome + (details.isEmpty ? "" : " (\(details.joined(separator: ", ")))")
    }

    private var outcome: String {
        var words: [String] = []
        if let status { words.append("\(status)") }
        if let serverCode = serverError?.code { words.append(serverCode.shown) }
        if words.isEmpty || code != .unacceptableStatus { words.append(code.rawValue) }
        if let message = serverError?.message { words.append("\"\(message.shown)\"") }
        let line = words.joined(separator: " ")
        return explanation.map { "\(line): \($0.shown)" } ?? line
    }

    private var explanation: String? {
        if let reason { return reason }
        if let stepUp { return stepUp.description }
        switch cause {
        // The code and the pause are those of this error.
        case let cause as AuthenticationError: return cause.explanation
        case let cause as HTTPTransportError: return cause.reason
        case let cause as DecodingFailure: return cause.description
        // The text of an error of another module may contain a secret.
        case let cause?: return "\(type(of: cause))"
        case nil: return nil
        }
    }

    private var details: [String] {
        [
            fingerprint, requestID.map { "request \($0.line(8))" }, attempt > 1 ? "attempt \(attempt)" : nil,
            elapsed?.inWords, retryAfter.map { "retry after \($0.inWords)" },
        ].compactMap(\.self)
    }
}

extension String {
    /// The text without what looks like a token, on one line.
    fileprivate var shown: String { redacted(by: .standard).line(200) }

    /// The text without control characters, of at most so many characters.
    fileprivate func line(_ limit: Int) -> String {
        let line = boundedLine(limit + 1)
        return line.count > limit ? line.prefix(limit) + "…" : line
    }
}

/// The method and URL of a request for errors, events and logs, without user information and without the values of
/// query items that denote a secret (G17).
public struct RequestSummary: Sendable, Hashable, CustomStringConvertible {
    /// The request method.
    public let method: HTTPMethod

    /// The URL, redacted.
    public let url: String

    /// Creates a summary. The URL is redacted.
    public init(method: HTTPMethod, url: URL) {
        self.method = method
        self.url = Redaction.standard.url(url)
    }

    init(_ request: HTTPRequestHead, _ redaction: Redaction = .standard, of message: CallMessage? = nil) {
        self.init(method: request.method, shown: redaction.url(request.url, of: message))
    }

    init(method: HTTPMethod, shown url: String) {
        self.method = method
        self.url = url
    }

    /// The method and URL.
    public var description: String { "\(method) \(url)" }
}
