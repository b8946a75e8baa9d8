import Foundation

/// Dates in the format of RFC 3339, a profile of ISO 8601.
enum ISO8601 {
    static func string(from date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle())
    }

    static func date(from text: String) -> Date? {
        (try? Date.ISO8601FormatStyle().parse(text))
            ?? (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
    }
}
