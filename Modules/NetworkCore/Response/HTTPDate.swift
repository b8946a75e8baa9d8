import ConcurrencyPrimitives
import Foundation

/// A date in a header field, in the form that servers must send: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
///
/// The two obsolete forms, and dates outside the years 1970 to 9999, are invalid.
struct HTTPDate {
    let date: Date

    init?(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard text.utf8.count == 29, parts.count == 6, parts[5] == "GMT",
            Self.weekdays.contains(String(parts[0])),
            let month = Self.months.firstIndex(of: String(parts[2])),
            let year = Self.number(parts[3], in: 1970...9999),
            let day = Self.number(parts[1], in: 1...Self.days(inMonth: month + 1, of: year))
        else { return nil }
        let time = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard time.count == 3,
            let hour = Self.number(time[0], in: 0...23),
            let minute = Self.number(time[1], in: 0...59),
            let second = Self.number(time[2], in: 0...60)
        else { return nil }
        let days = Self.daysSince1970(year: year, month: month + 1, day: day)
        date = Date(timeIntervalSince1970: TimeInterval(((days * 24 + hour) * 60 + minute) * 60 + second))
    }

    private static let last = Locked<(text: String, date: Date)?>(nil)

    /// Reads the date of a response. The responses of one second have the same date, which is read once.
    static func recent(_ text: String) -> Date? {
        if let last = last.withLock({ $0 }), last.text == text { return last.date }
        guard let date = HTTPDate(text)?.date else { return nil }
        last.withLock { $0 = (text, date) }
        return date
    }

    private static let weekdays: Set = ["Mon,", "Tue,", "Wed,", "Thu,", "Fri,", "Sat,", "Sun,"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func number(_ text: Substring, in range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int(text), range.contains(number)
        else { return nil }
        return number
    }

    private static func days(inMonth month: Int, of year: Int) -> Int {
        let isLeapYear = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        return switch month {
        case 2: isLeapYear ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Counts days in the Gregorian calendar, in years that start in March, so that leap days come last.
    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let marchYear = month > 2 ? year : year - 1
        let monthFromMarch = (month + 9) % 12
        let daysBeforeMonth = (153 * monthFromMarch + 2) / 5
        let leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400
        let daysFromYearZeroTo1970 = 719_468
        return 365 * marchYear + leapDays + daysBeforeMonth + day - 1 - daysFromYearZeroTo1970
    }
}
