import Foundation

// The pauses that servers ask for.
extension HTTPResponseHead {
    /// The longest pause that a server can ask for. A longer one counts as this.
    static let maximumRetryAfter: Duration = .seconds(24 * 60 * 60)

    /// The statuses of a limit that is used up. Other responses have its fields too, and ask for nothing.
    private static let statusesOfLimits: Set = [403, 429, 503]

    /// The pause that the server asked for: `retry-after-ms`, or `Retry-After` (RFC 9110 §10.2.3) in seconds, rounded
    /// up, or as a date, or the time to the reset of a limit that is used up.
    ///
    /// An instant counts from the `Date` of the response, so that a wrong clock of the device does no harm (G19).
    /// Without a `Date` in the response, it counts from the date on the device's clock.
    ///
    /// - Returns: The pause, at least zero. `nil`: the fields are missing or invalid.
    func retryAfter(now: Date) -> Duration? {
        let now = serverDate ?? now
        let seconds = { retryAfterField(now: now) ?? timeToReset(now: now) }
        let milliseconds = number(in: "retry-after-ms") ?? seconds().map { $0.rounded(.up) * 1_000 }
        let limit = Self.maximumRetryAfter / .milliseconds(1)
        return milliseconds.map { .milliseconds(Int64(min($0.rounded(.up), limit))) }
    }

    /// Whether a limit is used up.
    var isLimited: Bool { !usedUpLimits.isEmpty }

    private func retryAfterField(now: Date) -> TimeInterval? {
        number(in: "Retry-After")
            ?? headers.first(of: "Retry-After").flatMap { HTTPDate($0)?.date }
            .map { max(0, $0.timeIntervalSince(now)) }
    }

    /// A reset that is no future instant says nothing.
    private func timeToReset(now: Date) -> TimeInterval? {
        guard Self.statusesOfLimits.contains(status) else { return nil }
        return usedUpLimits.compactMap { limit in
            // Seconds from now, or since 1970; some servers count milliseconds.
            guard let reset = limit.reset, reset >= 1e9 else { return limit.reset }
            return (reset < 1e12 ? reset : reset / 1_000) - now.timeIntervalSince1970
        }
        .filter { $0 > 0 }.max()
    }

    private typealias Limit = (left: Double?, reset: Double?)

    /// Of a limit that does not say how much is left, a 429 says it.
    private var usedUpLimits: [Limit] { limits.filter { $0.left == 0 || ($0.left == nil && status == 429) } }

    /// The limits of `RateLimit: "burst";r=0;t=5, "day";r=9;t=3600`, in earlier drafts of it `limit=9, remaining=0,
    /// reset=5`, and of fields such as `X-RateLimit-Remaining` and `X-RateLimit-Reset`.
    private var limits: [Limit] {
        let field = headers["RateLimit"] ?? ""
        let items = field.contains(";") ? field.split(separator: ",") : [field[...]]
        return items.map(Self.limit)
            + ["X-RateLimit", "X-Rate-Limit", "RateLimit"].map {
                (number(in: "\($0)-Remaining"), number(in: "\($0)-Reset"))
            }
    }

    private static func limit(_ item: Substring) -> Limit {
        var members: [Substring: Double] = [:]
        for member in item.split(whereSeparator: { ";, ".contains($0) }) {
            let parts = member.split(separator: "=")
            if parts.count == 2 { members[parts[0]] = number(parts[1]) }
        }
        return (members["r"] ?? members["remaining"], members["t"] ?? members["reset"])
    }

    private func number(in name: String) -> Double? { headers.first(of: name).flatMap(Self.number) }

    private static func number(_ text: some StringProtocol) -> Double? {
        let isPlain = text.utf8.first?.isDigit == true && text.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") }
        return isPlain ? Double(text) : nil
    }
}
