public import struct Foundation.UUID

/// An identifier that is made up at random. It is no secret: it may be logged.
public protocol RandomIdentifier: Sendable, Hashable, RawRepresentable<String>, CustomStringConvertible {
    /// Creates an identifier from its text.
    ///
    /// - Parameter rawValue: The identifier as text.
    init(rawValue: String)
}

extension RandomIdentifier {
    /// Creates a new identifier.
    ///
    /// - Parameter uuid: The random value it is made of.
    public init(_ uuid: UUID = UUID()) {
        self.init(rawValue: uuid.uuidString)
    }

    /// The first eight characters: enough to tell identifiers apart in a log.
    public var description: String { String(rawValue.prefix(8)) }
}
