import Foundation

extension HTTPResponseHead {
    /// The longest pause a server can ask for. What is longer counts as this long.
    static let longestRetryAfter: Duration = .seconds(24 * 60 * 60)

    /// The length of the body that follows, where the head says (RFC 9110 §8.6). The answer to a `HEAD` says how
    /// long a body would be, and sends none.
    func bodyLength(to request: URLRequest) -> Int? {
        request.httpMethod == "HEAD" ? 0 : headers["Content-Length"].flatMap { Int($0) }
    }

    /// How long the server asked to be left alone (`Retry-After`, RFC 9110 §10.2.3), as seconds or as a date.
    ///
    /// A date is counted from the answer's own `Date`, so that a wrong clock here does not matter (G19).
    ///
    /// - Parameter now: The time of day here, for a server that does not send its own.
    /// - Returns: The pause, never below zero; `nil` where the server asked for none, or in no form we know.
    func retryAfter(now: Date) -> Duration? {
        guard let text = headers["Retry-After"]?.trimmingCharacters(in: .whitespaces) else { return nil }
        if let seconds = UInt64(text) {
            return min(.seconds(Int64(clamping: seconds)), Self.longestRetryAfter)
        }
        guard let date = HTTPDate(text)?.date else { return nil }
        let pause = date.timeIntervalSince(serverDate ?? now)
        return min(max(.zero, .seconds(pause)), Self.longestRetryAfter)
    }
}
