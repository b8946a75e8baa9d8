import NetworkCore

/// The text or number with which the server identifies an article, a user or another record.
///
/// A server may write it as a JSON string or as a whole number: `"7"` and `7` are the same identifier. The type of the
/// record is part of it: the identifier of a user is not accepted as that of an article.
public struct Identifier<Record>: Sendable, Hashable, RawRepresentable {
    /// The identifier as text.
    public let rawValue: String

    /// Creates an identifier.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Creates an identifier from a number.
    public init(_ number: some BinaryInteger) { self.init(rawValue: String(number)) }
}

extension Identifier: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    /// Creates an identifier from a number.
    public init(integerLiteral value: Int64) { self.init(value) }

    /// Creates an identifier from a text.
    public init(stringLiteral value: String) { self.init(rawValue: value) }
}

extension Identifier: Codable {
    /// Reads a string or a whole number.
    ///
    /// - Throws: `DecodingError` for an empty string and for every other value.
    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try JSONValue.identifier(from: decoder))
    }

    /// Writes a string.
    ///
    /// - Throws: The errors of the encoder.
    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(rawValue)
    }
}

extension JSONValue {
    /// The text, or the whole number as text, that a decoder is at. Throws `DecodingError` for every other value.
    static func identifier(from decoder: any Decoder) throws -> String {
        if let identifier = try Self(from: decoder).identifier { return identifier }
        throw DecodingError.dataCorrupted(
            .init(codingPath: decoder.codingPath, debugDescription: "no text and no whole number"))
    }
}

extension Identifier: CustomStringConvertible {
    /// The identifier as text.
    public var description: String { rawValue }
}
