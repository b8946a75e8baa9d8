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
        let value = try decoder.singleValueContainer()
        if let number = try? value.decode(Int64.self) {
            self.init(number)
        } else if let number = try? value.decode(UInt64.self) {
            self.init(number)
        } else {
            self.init(rawValue: try value.decode(String.self))
        }
        guard !rawValue.isEmpty else {
            throw DecodingError.dataCorruptedError(in: value, debugDescription: "the identifier is empty")
        }
    }

    /// Writes a string.
    ///
    /// - Throws: The errors of the encoder.
    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(rawValue)
    }
}

extension Identifier: CustomStringConvertible {
    /// The identifier as text.
    public var description: String { rawValue }
}
