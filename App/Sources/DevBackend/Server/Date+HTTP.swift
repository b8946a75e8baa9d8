import Foundation

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
