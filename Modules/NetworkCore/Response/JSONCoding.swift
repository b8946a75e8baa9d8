public import Foundation

/// Creates JSON encoders and decoders, and so decides how dates and keys are written.
///
/// Each use has a new coder: coders are classes, and requests that share one would need a lock.
public struct JSONCoding: Sendable {
    /// Creates an encoder.
    public var makeEncoder: @Sendable () -> JSONEncoder

    /// Creates a decoder.
    public var makeDecoder: @Sendable () -> JSONDecoder

    /// Creates a pair of factories.
    public init(
        makeEncoder: @escaping @Sendable () -> JSONEncoder, makeDecoder: @escaping @Sendable () -> JSONDecoder
    ) {
        self.makeEncoder = makeEncoder
        self.makeDecoder = makeDecoder
    }

    /// Dates as ISO 8601, written in whole seconds, and read with or without fractions. Keys are not converted.
    public static let standard = JSONCoding(writing: ISO8601.string(from:), reading: ISO8601.date(from:))

    /// As ``standard``, with dates as more servers write them: without seconds (`2026-07-30T10:00Z`), with a blank for
    /// `T`, without a zone, which is then UTC, or without a time; and as seconds or milliseconds since 1970. Dates are
    /// written as text, in milliseconds.
    public static let lenient = JSONCoding(
        writing: { ISO8601.string(inMillisecondsFrom: $0) }, reading: { ISO8601.lenientDate(from: $0) },
        readsNumbers: true)

    private init(
        writing: @escaping @Sendable (Date) -> String, reading: @escaping @Sendable (String) -> Date?,
        readsNumbers: Bool = false
    ) {
        makeEncoder = {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.withoutEscapingSlashes]
            encoder.dateEncodingStrategy = .custom { date, encoder in
                var container = encoder.singleValueContainer()
                try container.encode(writing(date))
            }
            return encoder
        }
        makeDecoder = {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .custom { decoder in
                let container = try decoder.singleValueContainer()
                if readsNumbers, let number = try? container.decode(Double.self) {
                    // As seconds this is the year 5138, as milliseconds 1973.
                    return Date(timeIntervalSince1970: number < 100_000_000_000 ? number : number / 1_000)
                }
                guard let date = reading(try container.decode(String.self)) else {
                    throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an ISO 8601 date")
                }
                return date
            }
            return decoder
        }
    }
}

/// Dates in the format of RFC 3339, a profile of ISO 8601.
enum ISO8601 {
    static func string(from date: Date) -> String { date.formatted(Date.ISO8601FormatStyle()) }

    /// The date to the nearest millisecond: the style cuts, and `.057` has no exact value.
    static func string(inMillisecondsFrom date: Date) -> String {
        (date + 0.000_5).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    static func date(from text: String) -> Date? {
        (try? Date.ISO8601FormatStyle().parse(text))
            ?? (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
    }

    /// Reads a date with the parts that it leaves out, after one that is whole.
    static func lenientDate(from text: String) -> Date? {
        if let date = date(from: text) { return date }
        let form = /(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(:\d\d(?:\.\d+)?)? ?([Zz]|[+-]\d\d(?::?\d\d)?)?)?/
        guard let parts = text.wholeMatch(of: form) else { return nil }
        let zone = parts.4?.uppercased() ?? "Z"
        return date(from: "\(parts.1)T\(parts.2 ?? "00:00")\(parts.3 ?? ":00")\(zone)")
    }
}
