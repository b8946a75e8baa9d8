import Foundation

extension HTTPResponseHead {
    /// The longest pause a server can ask for. What is longer counts as this long.
    static let longestRetryAfter: Duration = .seconds(24 * 60 * 60)

    /// The length of the body that follows, where the head says (RFC 9110 §8.6). The answer to a `HEAD` says how
    /// long a body would be, and sends none.
    func bodyLength(to request: HTTPRequestHead) -> Int? {
        guard request.method != .head else { return 0 }
        // Equal lengths may be repeated; see `validate()`.
        return headers.values(of: "Content-Length").first.flatMap { Int($0.prefix { $0 != "," }) }
    }

    /// How long the server asked to be left alone (`Retry-After`, RFC 9110 §10.2.3), as seconds or as a date.
    ///
    /// A date is counted from the answer's own `Date`, so that a wrong clock here does not matter (G19).
    ///
    /// - Parameter now: The time of day here, for a server that does not send its own.
    /// - Returns: The pause, never below zero; `nil` where the server asked for none, or in no form we know.
    func retryAfter(now: Date) -> Duration? {
        guard let text = headers["Retry-After"]?.trimmingCharacters(in: .whitespaces) else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // A number too large to read is longer than the longest pause too.
            return min(.seconds(Int64(text) ?? .max), Self.longestRetryAfter)
        }
        guard let date = HTTPDate(text)?.date else { return nil }
        let pause = date.timeIntervalSince(serverDate ?? now)
        return min(max(.zero, .seconds(pause)), Self.longestRetryAfter)
    }

    /// Refuses a head whose fields contradict each other: two lengths (RFC 9112 §6.3) or two targets of a redirect. A
    /// platform that joins repeated fields leaves a comma and a space, which neither a length nor a URL contains.
    ///
    /// - Throws: ``NetworkError`` with code `invalidResponse`.
    func validate() throws {
        let lengths = headers.values(of: "Content-Length").flatMap { $0.split(separator: ",") }
            .map { String($0).withoutSurroundingWhiteSpace }
        guard Set(lengths).count <= 1 else {
            throw NetworkError(.invalidResponse, reason: "it has two Content-Length values", response: self)
        }
        let locations = headers.values(of: "Location")
        guard locations.count <= 1, locations.first?.contains(", ") != true else {
            throw NetworkError(.invalidResponse, reason: "it has two Location fields", response: self)
        }
    }
}
