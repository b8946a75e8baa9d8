import ConcurrencyPrimitives
package import Foundation

/// A date in a header field, in one of the three forms of RFC 9110 §5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`, which
/// servers must send, and the obsolete `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov 6 08:49:37 1994`, which clients
/// must read.
///
/// Dates outside the years 1970 to 9999 are invalid. Foundation's parse strategies read less strictly, such as `6` for
/// `06`, and take three times as long.
package struct HTTPDate {
    package let date: Date

    /// Reads the value of a field. A year of two digits is at most 50 years ahead of now.
    package init?(_ text: String, now: Date = Date()) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard let (weekday, dayText, monthText, yearText, timeText) = Self.fields(parts),
            Self.weekdays.contains(weekday), let month = Self.months.firstIndex(of: String(monthText)),
            let year = Self.year(yearText, now: now), let day = Self.number(dayText, in: 1...31)
        else { return nil }
        let time = timeText.split(separator: ":", omittingEmptySubsequences: false)
        guard time.count == 3, time.allSatisfy({ $0.utf8.count == 2 }),
            let hour = Self.number(time[0], in: 0...23),
            let minute = Self.number(time[1], in: 0...59),
            let second = Self.number(time[2], in: 0...60)
        else { return nil }
        // The calendar reads the 30th of February as the 2nd of March.
        let components = DateComponents(year: year, month: month + 1, day: day, hour: hour, minute: minute)
        guard let start = Self.calendar.date(from: components), Self.calendar.component(.day, from: start) == day else {
            return nil
        }
        date = start + TimeInterval(second)
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
        guard text.utf8.count == 2 else { return number(text, in: 1970...9999) }
        guard let number = number(text, in: 0...99) else { return nil }
        let thisYear = calendar.component(.year, from: now)
        let year = thisYear / 100 * 100 + number
        let recent = year > thisYear + 50 ? year - 100 : year
        return recent >= 1970 ? recent : nil
    }

    private static let last = Locked<(text: String, date: Date)?>(nil)

    /// Reads the date of a response. The responses of one second have the same date, which is read once.
    package static func recent(_ text: String) -> Date? {
        if let last = last.withLock({ $0 }), last.text == text { return last.date }
        guard let date = HTTPDate(text)?.date else { return nil }
        last.withLock { $0 = (text, date) }
        return date
    }

    private static let calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    private static let longWeekdays = [
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
    ]
    private static let weekdays = Set(longWeekdays.map { $0.prefix(3) })
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func number(_ text: Substring, in range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int(text), range.contains(number)
        else { return nil }
        return number
    }
}
