package import struct Foundation.Date

/// The place of a sign-in in the order of all sign-ins of one store.
///
/// A sign-in takes an ordinal when it is asked for: one more than the highest that its process has read or issued, or
/// the date of the device in milliseconds since 1970, whichever is greater (a hybrid logical clock). What is stored of
/// the session carries it, and so does its end. So the order does not change when a clock is set. Of one session, only
/// the generation and the end count.
public struct SessionOrdinal: RawRepresentable, Comparable, Hashable, Sendable, Codable {
    /// The number: from 0 to 2^53.
    public let rawValue: Int64

    /// Before every sign-in whose ordinal is known.
    public static let unknown = SessionOrdinal(bounded: 0)

    /// The last one: no sign-in comes after it.
    package static let last = SessionOrdinal(bounded: .max)

    private static let range: ClosedRange<Int64> = 0...(1 << 53)

    /// Creates an ordinal that was stored. `nil`: it is out of range, and then it cannot be decoded either.
    public init?(rawValue: Int64) {
        guard Self.range.contains(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    /// Creates the ordinal of an instant of the device's clock, from 1970 to the year 9999: an earlier or a later one
    /// counts as the nearest.
    package init(at date: Date) {
        let seconds = date.timeIntervalSince1970
        self.init(bounded: seconds > 0 ? Int64(min(seconds, 253_402_300_799) * 1_000) : 0)
    }

    private init(bounded value: Int64) { rawValue = min(max(value, Self.range.lowerBound), Self.range.upperBound) }

    /// Compares the numbers.
    public static func < (first: Self, second: Self) -> Bool { first.rawValue < second.rawValue }

    package var next: SessionOrdinal { SessionOrdinal(bounded: rawValue + 1) }
    package var previous: SessionOrdinal { SessionOrdinal(bounded: rawValue - 1) }
}
