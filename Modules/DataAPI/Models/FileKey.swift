/// What the server knows an uploaded file by. It is no secret: reading the file takes a token.
public struct FileKey: Sendable, Hashable, RawRepresentable, Codable, CustomStringConvertible {
    /// The key as text.
    public let rawValue: String

    /// Takes a key.
    ///
    /// - Parameter rawValue: The key as text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The key as text.
    public var description: String { rawValue }
}
