/// The answer to a login: who it is, and the tokens of the session.
public struct SignedIn: Sendable, Hashable, Decodable {
    /// Who has signed in.
    public let user: User

    /// The tokens of the session that begins.
    public let tokens: IssuedTokens

    /// Creates an answer.
    ///
    /// - Parameters:
    ///   - user: Who has signed in.
    ///   - tokens: The tokens of the session that begins.
    public init(user: User, tokens: IssuedTokens) {
        self.user = user
        self.tokens = tokens
    }

    private enum CodingKeys: String, CodingKey {
        case user
    }

    /// Reads `user`, and the tokens beside it.
    ///
    /// - Parameter decoder: Where to read from.
    /// - Throws: `DecodingError` when the user or the access token is missing.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        self.init(user: try object.decode(User.self, forKey: .user), tokens: try IssuedTokens(from: decoder))
    }
}
