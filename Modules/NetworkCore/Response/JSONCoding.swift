public import Foundation

/// Where encoders and decoders come from: the one place that says how dates and keys are written.
///
/// A new coder is made for each use. Coders are classes, and one shared by many requests would be one more lock.
public struct JSONCoding: Sendable {
    /// Makes an encoder.
    public var makeEncoder: @Sendable () -> JSONEncoder

    /// Makes a decoder.
    public var makeDecoder: @Sendable () -> JSONDecoder

    /// Creates a source of coders.
    ///
    /// - Parameters:
    ///   - makeEncoder: Makes an encoder.
    ///   - makeDecoder: Makes a decoder.
    public init(
        makeEncoder: @escaping @Sendable () -> JSONEncoder,
        makeDecoder: @escaping @Sendable () -> JSONDecoder
    ) {
        self.makeEncoder = makeEncoder
        self.makeDecoder = makeDecoder
    }

    /// Dates as ISO 8601: written in whole seconds, which every reader understands, and read with or without
    /// fractions. Keys as they are.
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

/// Dates as RFC 3339, the profile of ISO 8601 in use on the internet.
enum ISO8601 {
    static func string(from date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle())
    }

    static func date(from text: String) -> Date? {
        (try? Date.ISO8601FormatStyle().parse(text))
            ?? (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
    }
}
