import Foundation
import HTTPTypes

extension HTTPField.Name {
    static let xRequestID = literal("X-Request-Id")
    static let idempotencyKey = literal("Idempotency-Key")
    static let lastEventID = literal("Last-Event-ID")
    static let secFetchSite = literal("Sec-Fetch-Site")
    /// A second `Host`. The first one is no header field: it is the authority of the request.
    static let host = literal("Host")

    /// A name written in this code, so an invalid one is a programming error.
    private static func literal(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("Not a field name: \(text)") }
        return name
    }
}

extension Date {
    /// The date as the value of a `Date` field (RFC 9110 §5.6.7, IMF-fixdate).
    var httpDate: String { Self.httpStyle.format(self) }

    private static let httpStyle = VerbatimFormatStyle(
        format: """
            \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .defaultDigits) \
            \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\
            \(second: .twoDigits) GMT
            """,
        locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
}
