/// The number with which the server identifies an article, a user or another record.
///
/// The type of the record is part of it: the identifier of a user is not accepted as that of an article.
public struct Identifier<Record>: Sendable, Hashable, RawRepresentable, Codable, ExpressibleByIntegerLiteral {
    /// The number.
    public let rawValue: Int64

    /// Creates an identifier.
    ///
    /// - Parameter rawValue: The number.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Creates an identifier from a literal.
    ///
    /// - Parameter value: The number.
    public init(integerLiteral value: Int64) {
        self.init(rawValue: value)
    }
}

extension Identifier: CustomStringConvertible {
    /// The number as text.
    public var description: String { String(rawValue) }
}
