/// A place where tokens of their own are used, by the name that the application gives it (RFC 8707).
///
/// A server may issue one access token for each place: one for the API, one for the files. The session's *main* access
/// token has no audience; a refresh handler lists the others that it can ask for.
///
/// ```swift
/// extension TokenAudience {
///     static let files = TokenAudience("files")
/// }
/// ```
///
/// The name is stored with the tokens: it stays the same in later versions of the application. It is not sent, and is
/// no secret. A class is in it, so that a request that waits keeps one word.
public struct TokenAudience: Sendable {
    private final class Name: Sendable {
        let text: String

        init(_ text: String) { self.text = text }
    }

    private let box: Name

    /// The name.
    public var name: String { box.text }

    /// Creates an audience.
    ///
    /// - Parameter name: The name that the application gives the place.
    public init(_ name: String) { box = Name(name) }
}

extension TokenAudience: Hashable {
    /// Compares the names.
    public static func == (first: TokenAudience, second: TokenAudience) -> Bool {
        first.box === second.box || first.box.text == second.box.text
    }

    /// Feeds the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(box.text) }
}

extension TokenAudience: Codable {
    /// Decodes the name.
    ///
    /// - Throws: `DecodingError` when it is no text.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the name.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
}

extension TokenAudience: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}
