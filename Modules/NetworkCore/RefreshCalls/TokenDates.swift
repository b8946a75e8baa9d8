package import Foundation

/// How a server writes the instant at which a token expires.
public enum TokenDates: Sendable, Hashable {
    /// By the size of a number: seconds since 2001, as a plain `JSONDecoder` reads a `Date`, from 2010 to 2040; seconds
    /// since 1970 from 2010 on; milliseconds since 1970. A text is an ISO 8601 date, or such a number.
    case automatic

    /// Seconds since 2001-01-01T00:00:00Z.
    case secondsSince2001

    /// Seconds since 1970-01-01T00:00:00Z (`NumericDate`, RFC 7519 §2).
    case secondsSince1970

    /// Milliseconds since 1970-01-01T00:00:00Z.
    case millisecondsSince1970

    /// A text of ISO 8601.
    case iso8601
}

/// The instant of expiry in a response, as the server wrote it.
package struct IssuedExpiry: Sendable, Hashable {
    private let text: String
    private let number: Double?

    init(_ number: Double) { self.init("\(number)") }

    init(_ text: String) {
        self.text = text
        number = Double(text)
    }

    /// The instant. `nil`: it cannot be placed.
    package func date(_ dates: TokenDates) -> Date? {
        guard let number else { return [.automatic, .iso8601].contains(dates) ? ISO8601.date(from: text) : nil }
        return switch dates {
        case .automatic: Self.date(number)
        case .secondsSince2001: Self.plausible(Date(timeIntervalSinceReferenceDate: number))
        case .secondsSince1970: Self.plausible(Date(timeIntervalSince1970: number))
        case .millisecondsSince1970: Self.plausible(Date(timeIntervalSince1970: number / 1_000))
        case .iso8601: nil
        }
    }

    /// Seconds since 1970 exceed those since 2001 by 978,307,200: of near dates, the two do not overlap before 2040.
    private static func date(_ number: Double) -> Date? {
        switch number {
        case 2.8e8..<1.26e9: Date(timeIntervalSinceReferenceDate: number)
        case 1.26e9..<1e11: Date(timeIntervalSince1970: number)
        case 1e11..<1e14: Date(timeIntervalSince1970: number / 1_000)
        default: nil
        }
    }

    /// Dates from 1973 to the year 5138.
    private static func plausible(_ date: Date) -> Date? {
        (1e8..<1e11).contains(date.timeIntervalSince1970) ? date : nil
    }

    /// What the server wrote, for a log: a few characters of a date or number.
    package var shown: String { String(text.filter { "0123456789:.+-TZeE".contains($0) }.prefix(40)) }
}
