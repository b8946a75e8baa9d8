/// The key of an uploaded file. It is not secret: reading the file needs a token.
public struct FileKey: Sendable, Hashable, RawRepresentable, Codable, CustomStringConvertible {
    /// The key as text.
    public let rawValue: String

    /// Creates a key.
    ///
    /// - Parameter rawValue: The key as text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The key as text.
    public var description: String { rawValue }
}
