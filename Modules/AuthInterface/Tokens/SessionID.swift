public import struct Foundation.UUID

/// The identity of one login.
///
/// It is generated at sign-in, stays the same across refreshes, and is never sent. It is not a secret: it may be
/// logged.
public struct SessionID: Sendable, Hashable, Codable, RawRepresentable, CustomStringConvertible {
    /// The identity as text.
    public let rawValue: String

    /// Creates an identity that was stored.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Creates a new identity, with the text of a UUID.
    public init(_ uuid: UUID = UUID()) { self.init(rawValue: uuid.uuidString) }

    /// The first eight characters: enough to tell sessions apart in a log.
    public var description: String { String(rawValue.prefix(8)) }
}
