import AuthInterface
import ConcurrencyPrimitives

extension NetworkError: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// One line that says what happened, without a secret:
    /// `GET https://api.example.com/articles/7 → 404 NOT_FOUND "No such article" (request 5f0c…, attempt 1 of 3, 42 ms)`.
    public var description: String {
        let asked = request.map { "\($0) → " } ?? ""
        return asked + outcome + (details.isEmpty ? "" : " (\(details.joined(separator: ", ")))")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows `dump` and debuggers what ``description`` shows.
    public var customMirror: Mirror {
        Mirror(self, children: ["code": code.rawValue, "description": description], displayStyle: .struct)
    }

    private var outcome: String {
        var words: [String] = []
        if let status { words.append("\(status)") }
        if let serverCode = envelope?.code { words.append(serverCode.forOneLine) }
        if words.isEmpty || code != .unacceptableStatus { words.append(code.rawValue) }
        if let message = envelope?.message { words.append("\"\(message.forOneLine)\"") }
        let line = words.joined(separator: " ")
        return explanation.map { "\(line): \($0)" } ?? line
    }

    private var explanation: String? {
        if let reason { return reason }
        switch cause {
        case let cause as AuthenticationError: return cause.description
        case let cause as HTTPTransportError: return cause.reason
        case let cause as DecodingFailure: return cause.description
        // Its text is not ours to vouch for.
        case let cause?: return "\(type(of: cause))"
        case nil: return nil
        }
    }

    private var details: [String] {
        var details: [String] = []
        if let requestID { details.append("request \(requestID.abbreviated)") }
        if attempt > 0 {
            details.append("attempt \(attempt)" + (maximumAttempts.map { " of \($0)" } ?? ""))
        }
        if let elapsed { details.append(elapsed.inWords) }
        if let retryAfter { details.append("retry after \(retryAfter.inWords)") }
        return details
    }
}

extension String {
    /// The text made fit for one line of a log: no control characters, and not longer than a sentence.
    fileprivate var forOneLine: String {
        let limit = 200
        let line = String(unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
        return line.count > limit ? line.prefix(limit) + "…" : line
    }

    fileprivate var abbreviated: String {
        let line = forOneLine
        return line.count > 8 ? line.prefix(8) + "…" : line
    }
}
