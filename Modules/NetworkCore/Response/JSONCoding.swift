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
        makeEncoder: @escaping @Sendable () -> JSONEncoder,
        makeDecoder: @escaping @Sendable () -> JSONDecoder
    ) {
        self.makeEncoder = makeEncoder
        self.makeDecoder = makeDecoder
    }

    /// Dates as ISO 8601, written in whole seconds, and read with or without fractions. Keys are not converted.
    public static let standard = JSONCoding(
        makeEncoder: {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.withoutEscapingSlashes]
            encoder.dateEncodingStrategy = .custom { date, encoder in
                var container = encoder.singleValueContainer()
                try container.encode(ISO8601.string(from: date))
            }
            return encoder
        },
        makeDecoder: {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .custom { decoder in
                let container = try decoder.singleValueContainer()
                guard let date = ISO8601.date(from: try container.decode(String.self)) else {
                    throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an ISO 8601 date")
                }
                return date
            }
            return decoder
        }
    )
}

/// Dates in the format of RFC 3339, a profile of ISO 8601.
enum ISO8601 {
    static func string(from date: Date) -> String { date.formatted(Date.ISO8601FormatStyle()) }

    static func date(from text: String) -> Date? {
        (try? Date.ISO8601FormatStyle().parse(text))
            ?? (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
    }
}
