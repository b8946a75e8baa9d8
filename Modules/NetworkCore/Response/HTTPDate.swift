import ConcurrencyPrimitives
package import Foundation

/// A date in a header field, in one of the three forms of RFC 9110 §5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`, and the
/// obsolete `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov 6 08:49:37 1994`, which clients must read.
///
/// Dates outside the years 1970 to 9999 are invalid. Foundation's parse strategies read less strictly: `6` for `06`.
package struct HTTPDate {
    package let date: Date

    /// Reads the value of a field. A year of two digits is at most 50 years ahead of now.
    package init?(_ text: String, now: Date = Date()) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard let (weekday, dayText, monthText, yearText, timeText) = Self.fields(parts),
            Self.weekdays.contains(weekday), let month = Self.months.firstIndex(of: String(monthText)),
            let year = Self.year(yearText, now: now), let day = Self.number(dayText)
        else { return nil }
        let time = timeText.split(separator: ":").compactMap { $0.utf8.count == 2 ? Self.number($0) : nil }
        guard timeText.utf8.count == 8, time.count == 3, time[0] < 24, time[1] < 60, time[2] <= 60 else { return nil }
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...lengths[month]).contains(day) else { return nil }
        // 719,162 days lie between the starts of the years 1 and 1970.
        let before = year - 1
        let days = before * 365 + before / 4 - before / 100 + before / 400 - 719_162
        let hours = (days + lengths[..<month].reduce(0, +) + day - 1) * 24 + time[0]
        date = Date(timeIntervalSince1970: TimeInterval(hours) * 3_600 + TimeInterval(time[1] * 60 + time[2]))
    }

    private typealias Fields = (weekday: Substring, day: Substring, month: Substring, year: Substring, time: Substring)

    /// The fields of a date by its form; `nil`: it has none of the three.
    private static func fields(_ parts: [Substring]) -> Fields? {
        if parts.count == 6, parts[5] == "GMT", parts[1].utf8.count == 2, parts[3].utf8.count == 4 {
            return parts[0].hasSuffix(",") ? (parts[0].dropLast(), parts[1], parts[2], parts[3], parts[4]) : nil
        }
        if parts.count == 4, parts[3] == "GMT", parts[0].hasSuffix("day,"), parts[1].utf8.count == 9 {
            let day = parts[1].split(separator: "-", omittingEmptySubsequences: false)
            guard day.count == 3, day[0].utf8.count == 2, longWeekdays.contains(String(parts[0].dropLast())) else {
                return nil
            }
            return (parts[0].prefix(3), day[0], day[1], day[2], parts[2])
        }
        // A day of one digit follows two spaces.
        let day = parts.count == 6 && parts[2].isEmpty ? 3 : 2
        guard parts.count == day + 3, parts[day].utf8.count == 4 - day, parts[day + 2].utf8.count == 4 else {
            return nil
        }
        return (parts[0], parts[day], parts[1], parts[day + 2], parts[day + 1])
    }

    private static func year(_ text: Substring, now: Date) -> Int? {
        guard var year = number(text) else { return nil }
        if text.utf8.count == 2 {
            let thisYear = Calendar(identifier: .gregorian).dateComponents(in: .gmt, from: now).year ?? 1970
            year += thisYear / 100 * 100
            if year > thisYear + 50 { year -= 100 }
        }
        return year >= 1970 ? year : nil
    }

    private static let last = Locked<(text: String, date: Date)?>(nil)

    /// Reads the date of a response. The responses of one second have the same date, which is read once.
    package static func recent(_ text: String) -> Date? {
        if let last = last.withLock({ $0 }), last.text == text { return last.date }
        guard let date = HTTPDate(text)?.date else { return nil }
        last.withLock { $0 = (text, date) }
        return date
    }

    private static let longWeekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    private static let weekdays = Set(longWeekdays.map { $0.prefix(3) })
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func number(_ text: Substring) -> Int? { text.utf8.allSatisfy(\.isDigit) ? Int(text) : nil }
}
